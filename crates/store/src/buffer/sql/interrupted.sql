select * from sf_messages where attempting_at is not null order by seq
