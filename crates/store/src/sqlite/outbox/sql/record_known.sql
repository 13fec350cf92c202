-- This very attempt is on record: an earlier commit whose answer was lost.
select exists (select 1 from outcome where seq = ?1 and attempt_token = ?2)
  or exists (select 1 from audit_log where seq = ?1 and token = ?2)
