delete from transcripts where seq = ?1
