-- $1 now, $2 the outbox, $3 node, $4 for how long, in milliseconds.
insert into event_readers (name, owner, owner_until)
values ($2::text, $3::text, coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $4::float8 * interval '1 millisecond')
on conflict (name) do update set owner = excluded.owner, owner_until = excluded.owner_until
where event_readers.owner = excluded.owner or event_readers.owner_until <= coalesce($1::timestamptz, date_trunc('milliseconds', now()))
