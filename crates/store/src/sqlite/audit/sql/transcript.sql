select said from transcripts where seq = ?1 and token = ?2
