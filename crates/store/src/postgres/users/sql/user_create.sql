-- $1 now, $2 name, $3 name in lower case, $4 password, $5 subject.
insert into users (name, name_key, password, subject, created_at)
values ($2::text, $3::text, $4::text, $5::text, coalesce($1::timestamptz, date_trunc('milliseconds', now())))
on conflict do nothing
returning user_id
