delete from site_events where seq in (select seq from site_events where at < ?1 order by at limit ?2)
