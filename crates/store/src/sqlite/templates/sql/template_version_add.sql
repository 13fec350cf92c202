insert into message_template_versions (template_id, version, content, saved_at, saved_by) values (?1, ?2, ?3, ?4, ?5)
