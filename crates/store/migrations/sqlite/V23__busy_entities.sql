-- A machine's alarms make a long history of schedules for one entity: what still waits of it, and what came after an event, is
-- found without walking over all of it. Only what is pending is looked at next.
create index schedules_waiting on schedules (tenant, entity_type, entity_id) where next_look_at is not null;
drop index schedules_by_entity;
create index schedules_by_entity on schedules (tenant, entity_type, entity_id, event_seq);
