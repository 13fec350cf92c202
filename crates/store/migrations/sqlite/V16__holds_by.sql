-- Who holds a lane, where it is a person, and the code of the failure that it is held for. The SQLite twin of
-- migrations/postgres.
alter table lanes add column hold_by text;
alter table lanes add column hold_code text;
