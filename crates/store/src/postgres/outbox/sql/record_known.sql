-- $1 seq, $2 token. This very attempt is on record: an earlier commit whose answer was lost.
select exists (select from outcome where seq = $1::bigint and attempt_token = $2::bigint)
  or exists (select from audit_log where seq = $1::bigint and token = $2::bigint)
