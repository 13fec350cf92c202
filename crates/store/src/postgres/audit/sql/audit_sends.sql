-- $1 tenant, $2 from, $3 and $4 the last place looked at, $5 how many.
-- Every accepted notification is a NotifySend row; it is read from the notification itself.
select n.seq, n.created_at as at, n.id, n.subject, n.submitted_by as actor, n.execution, n.parent_execution, n.site,
  coalesce(n.list_name, n.provider) as target
from notifications n
where n.tenant = $1::integer and n.created_at >= $2::timestamptz
  and (n.created_at, n.seq) < ($3::timestamptz, $4::bigint)
order by n.created_at desc, n.seq desc
limit $5::bigint
