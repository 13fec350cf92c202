insert into message_templates
  (tenant, event_type, channel, name, language, scope_type, scope_id, active, version, created_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, ?9)
returning template_id
