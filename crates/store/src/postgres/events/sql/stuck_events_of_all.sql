-- The same of all tenants, also of those there are not.
select w.seq from outbox_messages w
where w.status in ('Failed', 'Deferred') and w.seq < $1::bigint
  and ($2::text is null or w.status = $2) and ($3::text is null or w.event_type = $3)
  and ($4::text is null or w.entity_id = $4) and ($5::timestamptz is null or w.created_at >= $5)
  and ($6::timestamptz is null or w.created_at < $6) and w.next_attempt_at <= $7::timestamptz
order by w.seq desc
limit $8::bigint
