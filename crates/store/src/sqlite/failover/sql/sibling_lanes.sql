-- The other lanes of the lane's channel.
select l.lane_id
from lanes home
join lanes l on l.tenant = home.tenant and l.channel = home.channel and l.lane_id <> home.lane_id
where home.lane_id = ?1
order by l.lane_id
