-- Held until the commit: nodes condense one after the other.
select value::bigint from meta where key = 'stats_rolled_up_to' for update
