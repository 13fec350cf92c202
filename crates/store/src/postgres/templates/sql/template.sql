-- $3: a version, or null for the one that counts.
select
  t.template_id, t.event_type, t.channel, t.name, t.language, t.scope_type, t.scope_id, t.active, t.created_at, t.deleted_at,
  v.version, v.saved_at, v.saved_by, v.content
from message_templates t
join message_template_versions v on v.template_id = t.template_id and v.version = coalesce($3::bigint, t.version)
where t.tenant = $1::integer and t.template_id = $2::bigint
