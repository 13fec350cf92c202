-- $1 now.
insert into suppressions (tenant, address_key, address, channel, topic, reason, source, created_at, created_by)
values (
  $2::integer, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text,
  coalesce($1::timestamptz, date_trunc('milliseconds', now())), $9::text
)
on conflict (tenant, address_key, channel, topic) do nothing
