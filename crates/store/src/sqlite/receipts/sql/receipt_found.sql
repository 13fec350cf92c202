-- Where the notification stands, and everything that a receipt about it is judged by.
select n.id, n.tenant, n.site, n.channel, n.list_name, n.recipients,
  d.seq is not null as waits, d.leased_until > ?2 as leased, coalesce(d.generation, o.generation) as generation,
  o.status, o.receipt, l.lane_id as lane, l.provider, coalesce(d.last_attempt_at, o.last_attempt_at) as last_attempt_at,
  members.recipients as members
from notifications n
left join due d on d.seq = n.seq
left join outcome o on o.seq = n.seq
left join lanes l on l.lane_id = coalesce(d.lane, o.lane)
left join lists members on members.tenant = n.tenant and members.name = n.list_name
where n.seq = ?1
