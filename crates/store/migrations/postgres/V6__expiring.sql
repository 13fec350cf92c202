-- What waits past its time is found by that time, whatever it waits for.
alter table due add column expires_at timestamptz;
update due set expires_at = n.expires_at from notifications n where n.seq = due.seq and n.expires_at is not null;
create index due_expiring on due (expires_at) where expires_at is not null;

-- Bulk actions that ended are purged like what they were about.
create index jobs_ended on jobs (created_at) where finished;

-- A provider that is switched off is held until it is switched on; a resume used to end that.
update lanes
set hold_reason = 'disabled', hold_detail = null, hold_since = date_trunc('milliseconds', now()),
  next_probe = null, probes = 0, probe_until = null
where hold_reason is distinct from 'disabled'
  and exists (select from providers p where p.lane_id = lanes.lane_id and not p.enabled);
