-- Since when a lane has the settings that it has: what is learned late of messages from before does not concern them. The SQLite twin of migrations/postgres.
alter table lanes add column configured_at integer;
