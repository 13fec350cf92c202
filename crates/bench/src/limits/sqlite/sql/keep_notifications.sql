-- ?1 first number, ?2 last, ?3 what tells these keys from others, ?4 body, ?5 now.
with recursive numbers (n) as (
  select ?1 union all select n + 1 from numbers where n < ?2
)
insert into notifications (
  tenant, id, idempotency_key, content_hash, channel, provider, recipients, subject, body, submitted_by, created_at
)
select 1, randomblob(16), ?3 || n, random(), 'Email', 'noop', '["user' || n || '@example.org"]', 'Order confirmation', ?4,
  'key:bench', ?5 - 86400000 - n * 10
from numbers
