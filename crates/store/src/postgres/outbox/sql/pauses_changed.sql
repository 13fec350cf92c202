-- $1 lane. Locks the lane: of two nodes that add pauses the second counts those of the first.
update lanes set pauses_version = pauses_version + 1 where lane_id = $1::bigint
