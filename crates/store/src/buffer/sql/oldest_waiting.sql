select min(created_at) from (select created_at from sf_messages where status = 0 order by seq limit 1)
