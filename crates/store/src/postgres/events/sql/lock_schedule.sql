select s.seq, s.tenant, s.event_id, s.event_type, s.entity_type, s.entity_id, s.status, s.due_at, s.next_look_at, s.attempts,
  s.last_error, s.messages, s.created_at, s.published_at, s.settled_at
from schedules s
where s.tenant = $1::integer and s.event_id = $2::uuid
for update
