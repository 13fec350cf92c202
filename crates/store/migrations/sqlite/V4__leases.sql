-- A claim used to move `due_at` to the end of its lease, and with it the index entry of the row.
alter table due add column leased_until integer;
update due set leased_until = due_at, due_at = coalesce(last_attempt_at, waiting_since) where token is not null;
