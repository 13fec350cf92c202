delete from sessions where rowid in (select rowid from sessions where expires_at <= ?1 order by expires_at limit ?2)
