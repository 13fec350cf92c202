delete from stats where rowid in (select rowid from stats where bucket < ?1 order by bucket limit ?2)
