-- $1 now, $2 tenant, $3 site, $4 the counter and $5 the id of the turn, $6 the holder, $7 for how many milliseconds, $8 which
-- database this is, $9 whether a later turn may have been given, $10 and $11 the turn that was read.
update sites set
  lease_counter = $4::bigint,
  lease_turn = $5::uuid,
  lease_holder = $6::uuid,
  lease_until = coalesce($1::timestamptz, clock_timestamp()) + $7::float8 * interval '1 millisecond',
  lease_database = $8::text,
  lease_doubt = $9::boolean
where tenant = $2::integer and site = $3::text
  and lease_counter is not distinct from $10::bigint and lease_turn is not distinct from $11::uuid
