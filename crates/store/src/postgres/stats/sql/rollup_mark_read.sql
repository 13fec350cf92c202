select value::bigint from meta where key = 'stats_rolled_up_to'
