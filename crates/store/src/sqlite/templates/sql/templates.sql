-- ?1 tenant, ?2 deleted ones, ?3 event type, ?4 channel, ?5 active; null means all.
select
  t.template_id, t.event_type, t.channel, t.name, t.language, t.scope_type, t.scope_id, t.active, t.created_at, t.deleted_at,
  v.version, v.saved_at, v.saved_by
from message_templates t
join message_template_versions v on v.template_id = t.template_id and v.version = t.version
where t.tenant = ?1 and (t.deleted_at is not null) = ?2
  and (?3 is null or t.event_type = ?3)
  and (?4 is null or t.channel = ?4)
  and (?5 is null or t.active = ?5)
order by t.event_type, t.channel, t.name, t.scope_type, t.scope_id, t.language, t.template_id
