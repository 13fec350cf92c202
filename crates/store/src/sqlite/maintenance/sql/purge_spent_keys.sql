delete from spent_keys where rowid in (select rowid from spent_keys where at < ?1 order by at limit ?2)
