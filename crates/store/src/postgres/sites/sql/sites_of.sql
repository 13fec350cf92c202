-- $1 tenant. By code point, whatever the collation: both databases give the same order.
select * from sites where tenant = $1::integer order by site collate "C"
