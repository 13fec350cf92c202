-- By which the events of one message are found. A notification's acceptance is found by its time instead: an entry here
-- for each would cost every send, and there are as many of them as notifications.
create index if not exists idx_site_events_message on site_events (message_id) where what <> 'Queued' or category <> 1;

-- The person who acted on it last, if anybody did.
alter table operation_tracking add column actor text;
