-- $1 now, $2 this node; then one array per column, in the order in which the items came. As ingest.sql, for items that
-- have none of the columns that most leave empty: those cost as much as the others.
with moment as materialized (
  -- Once, not for every row.
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now
), arrived as (
  select nextval('notifications_seq_seq') as seq, given.*
  from unnest(
    $3::integer[], $4::uuid[], $5::text[], $6::bigint[], $7::text[], $8::bigint[], $9::text[], $10::text[],
    $11::text[], $12::text[], $13::text[], $14::text[]
  ) as given (
    tenant, id, idempotency_key, content_hash, channel, lane, provider, list_name,
    recipients, subject, body, submitted_by
  )
), accepted as (
  insert into notifications (
    seq, tenant, id, idempotency_key, content_hash, channel, lane, provider, list_name,
    recipients, subject, body, submitted_by, created_at
  ) overriding system value
  select
    seq, tenant, id, idempotency_key, content_hash, channel, lane, provider, list_name,
    recipients, subject, body, submitted_by, (select now from moment)
  from arrived
  where (select spent.id from spent_keys spent where spent.tenant = arrived.tenant and spent.id = arrived.id) is null
  order by tenant, id
  on conflict (tenant, id) do nothing
  returning seq, tenant, id, lane, created_at
), waiting as (
  insert into due (seq, tenant, lane, waiting_since, due_at)
  select seq, tenant, lane, created_at, created_at
  from accepted
), counted as (
  insert into stats (bucket, tenant, site, what, writer, n)
  select date_bin('10 seconds', created_at, 'epoch'), tenant, '', 'Accepted', $2::text || '/' || pg_backend_pid(), count(*)
  from accepted
  group by 1, 2
  on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
)
select tenant, id, seq from accepted
