-- $1 now, $2 tenant, $3 site, $4 session, $5 milliseconds after which nobody is there.
-- With it those that nobody has said the end of: their node of central died.
delete from site_machines
where tenant = $2::integer and site = $3::text
  and (
    session = $4::uuid
    or last_contact_at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $5::float8 * interval '1 millisecond'
  )
