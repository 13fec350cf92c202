-- Since when a lane has the settings that it has: what is learned late of messages from before does not concern them.
alter table lanes add column configured_at timestamptz;
