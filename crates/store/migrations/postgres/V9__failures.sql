-- What a failure is called and what it stops.

-- A far end's own code, beside the one that is the same for all kinds.
alter table due add column provider_code text;
alter table outcome add column provider_code text;
alter table audit_log add column provider_code text;

-- A newer one came while this one was being sent: if that fails, it is not tried again.
alter table due add column superseded boolean not null default false;

-- A lane can be held because a setting is wrong, and knows when one of its pauses was added.
alter table lanes drop constraint lanes_hold_reason_check;
alter table lanes add constraint lanes_hold_reason_check
  check (hold_reason in ('auth','quota','billing','config','down','operator','disabled'));
-- Goes up with every pause that is added.
alter table lanes add column pauses_version bigint not null default 0;

-- What is not to be asked for just now, narrower than a lane: a recipient, a template.
create table pauses (
  lane bigint not null,
  key bigint not null,
  until timestamptz not null,
  reason text not null,
  primary key (lane, key)
);

alter table recipient_results drop constraint recipient_results_state_check;
alter table recipient_results add constraint recipient_results_state_check
  check (state in ('Open','Accepted','Failed','Ambiguous'));
alter table recipient_results add column provider_code text;
-- Who was asked.
alter table recipient_results add column provider text;
-- Tries in this generation.
alter table recipient_results add column tries integer not null default 0;
-- While it is open.
alter table recipient_results add column not_before timestamptz;
update recipient_results set tries = due.attempts from due where due.seq = recipient_results.seq;
