-- $1 now, $2 relay, $3 node, $4 tenant, $5 site, $6 question.
insert into site_relays (relay, node, tenant, site, question, asked_at)
values (
  $2::uuid, $3::text, $4::integer, $5::text, $6::text, coalesce($1::timestamptz, date_trunc('milliseconds', now()))
)
