-- $1 seq, $2 token.
select said from transcripts where seq = $1::bigint and token = $2::bigint
