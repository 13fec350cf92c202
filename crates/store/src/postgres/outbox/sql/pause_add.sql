-- $1 now, $2 lane, then arrays: $3 key, $4 wait in milliseconds, $5 reason. Never shortens a pause.
insert into pauses (lane, key, until, reason)
select $2::bigint, given.key,
  coalesce($1::timestamptz, date_trunc('milliseconds', now())) + given.wait * interval '1 millisecond', given.reason
from unnest($3::bigint[], $4::float8[], $5::text[]) as given (key, wait, reason)
on conflict (lane, key) do update set until = excluded.until, reason = excluded.reason
where pauses.until < excluded.until
