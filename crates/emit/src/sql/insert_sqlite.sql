-- The id in its usual spelling; SQLite makes no UUIDs, so 16 random bytes are spelt as one. An id that is there already is that
-- event, and no error: nobody's transaction fails for it.
insert into waypost_outbox (
  event_id, tenant, topic, event_type, entity_type, entity_id, payload, schema_version, correlation_id, due_at
)
values (
  coalesce(?1, lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a'
    || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))
  )),
  coalesce(?2, 'default'), ?3, ?4, ?5, ?6, ?7, coalesce(?8, 1), ?9, ?10
)
-- Whatever is unique: tables that were made before had the id alone.
on conflict do update set event_id = excluded.event_id
returning event_id
