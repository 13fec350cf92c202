select * from damage where acknowledged_at is null order by seq limit ?1
