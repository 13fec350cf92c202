-- Which machine of a site's pair may attempt what both know, and for how long nobody else may. The SQLite twin of
-- migrations/postgres.
alter table sites add column lease_counter integer;
alter table sites add column lease_turn blob;
alter table sites add column lease_holder blob;
alter table sites add column lease_until integer;
alter table sites add column lease_database text;
alter table sites add column lease_doubt integer;
