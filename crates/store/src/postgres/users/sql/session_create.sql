-- $1 now, $2 hash, $3 user, $4 tenant, $5 form secret, $6 how long, in milliseconds.
insert into sessions (hash, user_id, tenant, csrf, created_at, expires_at)
values (
  $2::bytea, $3::bigint, $4::integer, $5::text, coalesce($1::timestamptz, date_trunc('milliseconds', now())),
  coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $6::float8 * interval '1 millisecond'
)
