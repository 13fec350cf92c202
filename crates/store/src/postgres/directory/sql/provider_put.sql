insert into providers (
  tenant, id, name, kind, channel, enabled, ord, settings, secrets, retry, limits, on_ambiguous, version, lane_id
)
values (
  $1::integer, $2::text, $3::text, $4::text, $5::text, $6::boolean, $7::integer, $8::text::jsonb, $9::text::jsonb,
  $10::text::jsonb, $11::text::jsonb, $12::text, $13::bigint, $14::bigint
)
on conflict (tenant, id) do update
set name = excluded.name, kind = excluded.kind, channel = excluded.channel, enabled = excluded.enabled,
  ord = excluded.ord, settings = excluded.settings, secrets = excluded.secrets, retry = excluded.retry,
  limits = excluded.limits, on_ambiguous = excluded.on_ambiguous, version = excluded.version, lane_id = excluded.lane_id
