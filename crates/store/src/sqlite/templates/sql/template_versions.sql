select v.version, v.saved_at, v.saved_by
from message_templates t
join message_template_versions v on v.template_id = t.template_id
where t.tenant = ?1 and t.template_id = ?2
order by v.version desc limit ?3
