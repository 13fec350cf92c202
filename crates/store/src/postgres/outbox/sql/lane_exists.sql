-- $1 lanes. Those of them that there are.
select lane_id from lanes where lane_id = any ($1::bigint[])
