-- ?3: the version that whoever saves has seen.
update message_templates set version = version + 1, active = ?4
where tenant = ?1 and template_id = ?2 and version = ?3 and deleted_at is null
returning version
