-- $1 now, $2 tenant, $3 site. Whoever asks for the same site waits. Not the time at which the transaction began: it may have
-- waited for another.
select
  lease_counter, lease_turn, lease_holder, lease_database, lease_doubt,
  greatest(0, extract(epoch from lease_until - coalesce($1::timestamptz, clock_timestamp())) * 1000)::float8 as lease_left
from sites where tenant = $2::integer and site = $3::text for update
