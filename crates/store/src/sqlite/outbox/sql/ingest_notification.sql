-- Nothing happens when the id is known: the first content of an id is kept for ever.
-- VALUES and not SELECT: SQLite would copy every page before a statement that could insert several rows.
insert into notifications (
  tenant, id, idempotency_key, content_hash, channel, provider, list_name, recipients, subject, body, type_data,
  site, instance, script, execution, parent_execution, entity_type, entity_id, submitted_by, extra,
  site_enqueued_at, created_at, send_at, expires_at, supersede_key
)
values (
  ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25
)
on conflict (tenant, id) do nothing
