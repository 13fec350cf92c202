-- The same of all tenants, also of those there are not.
select w.seq from outbox_messages w
where w.status in ('Failed', 'Deferred') and w.seq < ?1
  and (?2 is null or w.status = ?2) and (?3 is null or w.event_type = ?3) and (?4 is null or w.entity_id = ?4)
  and (?5 is null or w.created_at >= ?5) and (?6 is null or w.created_at < ?6) and w.next_attempt_at <= ?7
order by w.seq desc
limit ?8
