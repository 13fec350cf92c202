insert into providers (
  tenant, id, name, kind, channel, enabled, ord, settings, secrets, retry, limits, on_ambiguous, version, lane_id
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
on conflict (tenant, id) do update
set name = excluded.name, kind = excluded.kind, channel = excluded.channel, enabled = excluded.enabled, ord = excluded.ord,
    settings = excluded.settings, secrets = excluded.secrets, retry = excluded.retry, limits = excluded.limits,
    on_ambiguous = excluded.on_ambiguous, version = excluded.version, lane_id = excluded.lane_id
