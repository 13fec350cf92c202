-- Answers with whose it is, where it is more than waiting for somebody else's outage.
update outbox_messages
set status = ?2, next_attempt_at = ?3, attempts = attempts + ?4, last_error = ?5,
  tenant_id = coalesce(nullif(tenant_id, 0), (select tenant from tenants where name = outbox_messages.tenant and deleted_at is null), 0)
where seq = ?1 and status = 'Pending'
returning nullif(tenant_id, 0) as tenant, entity_id, (?4 > 0 or ?2 <> 'Pending') as is_told,
  substr(coalesce(
    case when trim(entity_type, ' ' || char(9, 10, 13)) <> '' then entity_type end,
    (select e.definition ->> '$.entityType' from event_types e where e.tenant = tenant_id and e.name = event_type),
    substr(event_type, 1, instr(event_type || '.', '.') - 1)
  ), 1, ?6) as entity_type
