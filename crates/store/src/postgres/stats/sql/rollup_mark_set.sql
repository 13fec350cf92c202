update meta set value = ($1::bigint)::text where key = 'stats_rolled_up_to'
