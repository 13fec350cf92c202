-- $1 first number, $2 last, $3 lane, $4 what tells these keys from others, $5 body. Answers with the numbers given.
with made as (
  insert into waypost.notifications (
    tenant, id, idempotency_key, content_hash, channel, lane, provider, recipients, subject, body, submitted_by, created_at
  )
  select
    1, md5($4::text || n)::uuid, $4::text || n, hashtextextended($4::text || n, 0), 'Email', $3::bigint, 'noop',
    '["user' || n || '@example.org"]', 'Order confirmation', $5::text, 'key:bench',
    date_trunc('milliseconds', now()) - interval '1 day' - n * interval '10 milliseconds'
  from generate_series($1::bigint, $2::bigint) as n
  returning seq
)
select min(seq), max(seq) from made
