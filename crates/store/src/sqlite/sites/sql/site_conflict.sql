-- Another agent came with this id: ?1 tenant, ?2 site, ?3 now, ?4 its node, ?5 where from, ?6 its version, ?7 how long a
-- conflict of which nothing is heard lasts. Whether it is a new one.
update sites set
  conflict_node = ?4,
  conflict_peer = ?5,
  conflict_version = ?6,
  conflict_since = case when conflict_at > ?3 - ?7 then conflict_since else ?3 end,
  conflict_at = ?3
where tenant = ?1 and site = ?2
returning conflict_since = conflict_at
