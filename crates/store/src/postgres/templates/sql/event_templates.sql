-- A thousand variants are more than one event has; who has more is not let fill the memory.
select
  t.template_id, t.event_type, t.channel, t.name, t.language, t.scope_type, t.scope_id, t.active, t.created_at, t.deleted_at,
  v.version, v.saved_at, v.saved_by, v.content
from message_templates t
join message_template_versions v on v.template_id = t.template_id and v.version = t.version
where t.tenant = $1::integer and t.event_type = $2::text and t.active and t.deleted_at is null
order by t.template_id limit 1000
