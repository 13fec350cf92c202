insert into event_types (tenant, name, definition, version, updated_at) values (?1, ?2, ?3, 1, ?4)
on conflict (tenant, name) do update
set definition = excluded.definition, version = event_types.version + 1, updated_at = excluded.updated_at
returning name, definition, version, updated_at
