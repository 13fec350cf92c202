-- Another agent came with this id: $1 now, $2 tenant, $3 site, $4 its node, $5 where from, $6 its version, $7 how many
-- milliseconds a conflict of which nothing is heard lasts. Whether it is a new one.
update sites set
  conflict_node = $4::text,
  conflict_peer = $5::text,
  conflict_version = $6::text,
  conflict_since = case
    when conflict_at > coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $7::float8 * interval '1 millisecond'
    then conflict_since
    else coalesce($1::timestamptz, date_trunc('milliseconds', now()))
  end,
  conflict_at = coalesce($1::timestamptz, date_trunc('milliseconds', now()))
where tenant = $2::integer and site = $3::text
returning conflict_since = conflict_at as is_new
