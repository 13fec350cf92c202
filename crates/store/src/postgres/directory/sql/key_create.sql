-- $1 now, $2 tenant, $3 name, $4 role, $5 hash.
insert into api_keys (tenant, name, role, hash, created_at)
values ($2::integer, $3::text, $4::text, $5::bytea, coalesce($1::timestamptz, date_trunc('milliseconds', now())))
on conflict do nothing
returning key_id, tenant, name, role, created_at, revoked_at, last_used_at
