-- $1 now.
insert into message_templates
  (tenant, event_type, channel, name, language, scope_type, scope_id, active, version, created_at)
values (
  $2::integer, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::boolean, 1,
  coalesce($1::timestamptz, date_trunc('milliseconds', now()))
)
on conflict do nothing
returning template_id
