-- Replaying many at once. When a schedule came to its end without being published: what a job is about is fixed by then.
alter table jobs drop constraint jobs_action_check;
alter table jobs add constraint jobs_action_check check (action in ('retry','discard','cancel','resend','replay'));
alter table schedules add column settled_at timestamptz;
-- Only what may be replayed; publishing never touches them.
create index outbox_messages_stuck on outbox_messages (tenant, seq) where status in ('Failed', 'Deferred');
create index outbox_messages_stuck_of_all on outbox_messages (seq) where status in ('Failed', 'Deferred');
