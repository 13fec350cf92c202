-- $1 tenant, $2 deleted ones, $3 event type, $4 channel, $5 active; null means all.
select
  t.template_id, t.event_type, t.channel, t.name, t.language, t.scope_type, t.scope_id, t.active, t.created_at, t.deleted_at,
  v.version, v.saved_at, v.saved_by
from message_templates t
join message_template_versions v on v.template_id = t.template_id and v.version = t.version
where t.tenant = $1::integer and (t.deleted_at is not null) = $2::boolean
  and ($3::text is null or t.event_type = $3::text)
  and ($4::text is null or t.channel = $4::text)
  and ($5::boolean is null or t.active = $5::boolean)
order by t.event_type collate "C", t.channel, t.name collate "C", t.scope_type collate "C", t.scope_id collate "C", t.language,
  t.template_id
