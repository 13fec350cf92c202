select cast(value as integer) from meta where key = 'stats_rolled_up_to'
