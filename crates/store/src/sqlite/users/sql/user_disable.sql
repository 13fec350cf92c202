-- ?2 is when, null to let them in again.
update users set disabled_at = ?2 where user_id = ?1 and (disabled_at is null) <> (?2 is null)
