select s.seq, s.tenant, s.event_id, s.event_type, s.entity_type, s.entity_id, s.status, s.due_at, s.next_look_at, s.attempts,
  s.last_error, s.messages, s.created_at, s.published_at, s.settled_at, s.seq as place
from schedules s
where s.seq in (
  select w.seq from schedules w where w.tenant = ?1 and w.seq < ?2 order by w.seq desc limit ?4
)
  and (?3 is null or s.status = ?3) and (?6 is null or s.event_type = ?6)
order by s.seq desc
limit ?5
