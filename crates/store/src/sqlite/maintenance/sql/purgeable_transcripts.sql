select count(*) from (select 1 from transcripts where at < ?1 limit ?2)
