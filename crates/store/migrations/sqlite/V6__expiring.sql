-- What waits past its time is found by that time, whatever it waits for.
alter table due add column expires_at integer;
update due set expires_at = (select n.expires_at from notifications n where n.seq = due.seq);
create index due_expiring on due (expires_at) where expires_at is not null;

-- Bulk actions that ended are purged like what they were about.
create index jobs_ended on jobs (created_at) where finished;

-- A provider that is switched off is held until it is switched on; a resume used to end that.
update lanes
set hold_reason = 'disabled', hold_detail = null, hold_since = cast(unixepoch('subsec') * 1000 as integer),
    next_probe = null, probes = 0, probe_until = null
where hold_reason is not 'disabled'
  and exists (select 1 from providers p where p.lane_id = lanes.lane_id and not p.enabled);
