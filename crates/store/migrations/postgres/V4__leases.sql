-- A claim used to move `due_at` to the end of its lease, and with it every index entry of the row. Now it writes only
-- columns that no index has: the row changes in place.
alter table due add column leased_until timestamptz;
update due set leased_until = due_at, due_at = coalesce(last_attempt_at, waiting_since) where token is not null;
