-- Every accepted notification is a NotifySend row; it is read from the notification itself.
select n.seq, n.created_at as at, n.id, n.subject, n.submitted_by as actor, n.execution, n.parent_execution, n.site,
  coalesce(n.list_name, n.provider) as target
from notifications n
where n.tenant = ?1 and n.created_at >= ?2 and (n.created_at, n.seq) < (?3, ?4)
order by n.created_at desc, n.seq desc
limit ?5
