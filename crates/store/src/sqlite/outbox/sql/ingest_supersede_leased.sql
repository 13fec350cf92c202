-- What is being sent right now is left alone, and not tried again if that fails.
update due set superseded = 1 where tenant = ?1 and supersede_key = ?2
