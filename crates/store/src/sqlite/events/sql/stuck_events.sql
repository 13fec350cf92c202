-- Once one is settled its next attempt is when that was.
select w.seq from outbox_messages w
join tenants t on t.name = w.tenant and t.deleted_at is null
where t.tenant = ?1 and w.status in ('Failed', 'Deferred') and w.seq < ?2 and coalesce(w.tenant_id, t.tenant) = t.tenant
  and (?3 is null or w.status = ?3) and (?4 is null or w.event_type = ?4) and (?5 is null or w.entity_id = ?5)
  and (?6 is null or w.created_at >= ?6) and (?7 is null or w.created_at < ?7) and w.next_attempt_at <= ?8
order by w.seq desc
limit ?9
