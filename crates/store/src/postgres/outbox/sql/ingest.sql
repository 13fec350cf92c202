-- $1 now, $2 this node; then one array per column, in the order in which the items came.
with moment as materialized (
  -- Once, not for every row.
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now
), arrived as (
  -- Numbered before they are sorted, so that `seq` is the order of arrival.
  select nextval('notifications_seq_seq') as seq, given.*
  from unnest(
    $3::integer[], $4::uuid[], $5::text[], $6::bigint[], $7::text[], $8::bigint[], $9::text[], $10::text[],
    $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[],
    $19::text[], $20::text[], $21::text[], $22::text[], $23::text[], $24::text[], $25::timestamptz[],
    $26::timestamptz[], $27::timestamptz[]
  ) as given (
    -- What every item has, as in ingest_plain.sql; then what most leave empty.
    tenant, id, idempotency_key, content_hash, channel, lane, provider, list_name,
    recipients, subject, body, submitted_by, type_data, site, instance, script,
    execution, parent_execution, entity_type, entity_id, extra, supersede_key, site_enqueued_at,
    send_at, expires_at
  )
), accepted as (
  insert into notifications (
    seq, tenant, id, idempotency_key, content_hash, channel, lane, provider, list_name,
    recipients, subject, body, type_data, site, instance, script, execution,
    parent_execution, entity_type, entity_id, submitted_by, extra, site_enqueued_at, created_at, send_at,
    expires_at, supersede_key
  ) overriding system value
  select
    seq, tenant, id, idempotency_key, content_hash, channel, lane, provider, list_name,
    recipients, subject, body, type_data, site, instance, script, execution,
    parent_execution, entity_type, entity_id, submitted_by, extra, site_enqueued_at,
    (select now from moment), send_at,
    expires_at, supersede_key
  from arrived
  -- A scalar subselect and not `not exists`: that would become a join, and with it a scan of every id ever purged.
  where (select spent.id from spent_keys spent where spent.tenant = arrived.tenant and spent.id = arrived.id) is null
  -- Everybody takes the locks of the unique index in the same order, so that two nodes cannot deadlock.
  order by tenant, id
  on conflict (tenant, id) do nothing
  returning seq, tenant, id, lane, site, created_at, send_at, expires_at, supersede_key
), waiting as (
  insert into due (seq, tenant, lane, site, waiting_since, due_at, supersede_key, expires_at)
  select seq, tenant, lane, site, greatest(created_at, send_at), greatest(created_at, send_at), supersede_key, expires_at
  from accepted
), counted as (
  -- One row per backend, so that the two writers do not wait for each other's commit.
  insert into stats (bucket, tenant, site, what, writer, n)
  select date_bin('10 seconds', created_at, 'epoch'), tenant, coalesce(site, ''), 'Accepted',
    $2::text || '/' || pg_backend_pid(), count(*)
  from accepted
  group by 1, 2, 3
  on conflict (bucket, tenant, site, what, writer) do update set n = stats.n + excluded.n
)
select tenant, id, seq from accepted
