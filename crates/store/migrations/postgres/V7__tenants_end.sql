-- A tenant that was deleted. Its row stays, because its history does until it is purged, and its lanes point at it.
alter table tenants add column deleted_at timestamptz;
