-- $1 lane.
select count(*) from pauses where lane = $1::bigint
