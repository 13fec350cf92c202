delete from transcripts where seq = any ($1::bigint[])
