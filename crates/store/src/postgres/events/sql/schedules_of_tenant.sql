select s.seq, s.tenant, s.event_id, s.event_type, s.entity_type, s.entity_id, s.status, s.due_at, s.next_look_at, s.attempts,
  s.last_error, s.messages, s.created_at, s.published_at, s.settled_at, s.seq as place
from (
  select w.* from schedules w where w.tenant = $1::integer and w.seq < $2::bigint order by w.seq desc limit $4::bigint
) s
where ($3::text is null or s.status = $3) and ($6::text is null or s.event_type = $6)
order by s.seq desc
limit $5::bigint
