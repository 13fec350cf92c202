-- ?1 tenant, ?2 site, ?3 now, ?4 the counter and ?5 the id of the turn, ?6 the holder, ?7 for how long, ?8 which database
-- this is, ?9 whether a later turn may have been given, ?10 and ?11 the turn that was read.
update sites set
  lease_counter = ?4, lease_turn = ?5, lease_holder = ?6, lease_until = ?3 + ?7, lease_database = ?8, lease_doubt = ?9
where tenant = ?1 and site = ?2 and lease_counter is ?10 and lease_turn is ?11
