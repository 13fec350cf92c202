delete from transcripts
where transcript_id in (select transcript_id from transcripts where at < ?1 order by at limit ?2)
