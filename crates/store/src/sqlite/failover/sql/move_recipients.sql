-- Who is still open has its tries again.
update recipient_results set tries = 0, not_before = null where seq = ?1 and generation = ?2 and state = 'Open'
