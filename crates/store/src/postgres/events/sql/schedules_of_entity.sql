-- In the order in which its events came.
select s.seq, s.tenant, s.event_id, s.event_type, s.entity_type, s.entity_id, s.status, s.due_at, s.next_look_at, s.attempts,
  s.last_error, s.messages, s.created_at, s.published_at, s.settled_at, s.event_seq as place
from (
  select w.* from schedules w
  where w.tenant = $1::integer and w.entity_type = $6::text and w.entity_id = $7::text and w.event_seq < $2::bigint
  order by w.event_seq desc limit $4::bigint
) s
where ($3::text is null or s.status = $3) and ($8::text is null or s.event_type = $8)
order by s.event_seq desc
limit $5::bigint
