select
  p.tenant, p.id, p.name, p.kind, p.channel, p.enabled, p.ord, p.settings, p.secrets, p.retry, p.limits, p.on_ambiguous,
  p.version, p.lane_id, p.callback_hash, p.callback_sealed,
  l.hold_reason, l.hold_detail, l.hold_by, l.hold_code, l.hold_since, l.next_probe, l.probes
from providers p
join lanes l on l.lane_id = p.lane_id
where p.tenant = ?1 and p.id = ?2
