-- The attempt that delivered a notification is told on its outcome, not in a row of the log beside it: the same life, one
-- row and two index entries less. A row without a token tells of none; the log has its attempts.
alter table outcome
  add column attempt_token bigint,
  add column attempt_target text,
  add column attempt_duration_ms integer,
  add column attempt_code text,
  add column attempt_detail text;
-- Each outcome is in one of the two.
drop index outcome_by_time;
create index outcome_deliveries on outcome (tenant, at, seq) where attempt_token is not null;
create index outcome_others on outcome (at, seq) where attempt_token is null;

-- Nobody looks into these inside the database: kept as they came, not taken apart and put together again.
alter table notifications alter column recipients type text, alter column extra type text;
alter table outcome alter column resolved_targets type text;
