update meta set value = ?1 where key = 'epoch'
