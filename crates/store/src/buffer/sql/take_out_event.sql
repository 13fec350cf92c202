delete from site_events where seq = ?1
