update meta set value = ?1 where key = 'stats_rolled_up_to'
