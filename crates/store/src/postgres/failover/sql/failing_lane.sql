-- $1 lane.
select provider, hold_reason from lanes where lane_id = $1::bigint and hold_reason not in ('operator', 'disabled')
