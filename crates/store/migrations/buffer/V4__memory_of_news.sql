-- News that central has heard is remembered as long as what it acknowledged: a central that was restored from a copy
-- is told again.
alter table telemetry add column heard_at integer;
create index if not exists idx_telemetry_waiting on telemetry (seq) where heard_at is null;
create index if not exists idx_telemetry_heard on telemetry (heard_at) where heard_at is not null;

-- Central has been told that this notification was parked here, so it is told what becomes of it.
alter table sf_messages add column told integer not null default 0;
create index if not exists idx_sf_messages_told on sf_messages (seq) where told = 1;

-- What a notification was that somebody gave up.
alter table tombstones add column summary text;
alter table tombstones add column last_error text;
