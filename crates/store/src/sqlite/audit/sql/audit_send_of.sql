select n.seq, n.created_at as at, n.id, n.subject, n.submitted_by as actor, n.execution, n.parent_execution, n.site,
  coalesce(n.list_name, n.provider) as target
from notifications n
where n.tenant = ?1 and n.id = ?2
