select count(*) from damage where acknowledged_at is null
