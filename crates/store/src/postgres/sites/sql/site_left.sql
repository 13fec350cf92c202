-- $1 now, $2 tenant, $3 site, $4 session, $5 why.
update sites set
  session = null, offline_since = coalesce($1::timestamptz, date_trunc('milliseconds', now())), offline_why = $5::text
where tenant = $2::integer and site = $3::text and session = $4::uuid
