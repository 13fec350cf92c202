-- $1 now, $2 tenant, $3 name, $4 definition.
insert into event_types (tenant, name, definition, version, updated_at)
values ($2::integer, $3::text, $4::text, 1, coalesce($1::timestamptz, date_trunc('milliseconds', now())))
on conflict (tenant, name) do update
set definition = excluded.definition, version = event_types.version + 1, updated_at = excluded.updated_at
returning name, definition, version, updated_at
