-- Which machine of a site's pair may attempt what both know, and for how long nobody else may.
alter table sites add column lease_counter bigint;
alter table sites add column lease_turn uuid;
alter table sites add column lease_holder uuid;
alter table sites add column lease_until timestamptz;
alter table sites add column lease_database text;
alter table sites add column lease_doubt boolean;
