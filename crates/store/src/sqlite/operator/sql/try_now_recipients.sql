-- Who waits for a try of its own is asked for too; what a service wants to wait for is a pause, and stays.
update recipient_results set not_before = null where seq = ?1 and state = 'Open'
