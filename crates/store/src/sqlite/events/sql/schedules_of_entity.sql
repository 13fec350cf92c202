-- In the order in which its events came.
select s.seq, s.tenant, s.event_id, s.event_type, s.entity_type, s.entity_id, s.status, s.due_at, s.next_look_at, s.attempts,
  s.last_error, s.messages, s.created_at, s.published_at, s.settled_at, s.event_seq as place
from schedules s
where s.seq in (
  select w.seq from schedules w
  where w.tenant = ?1 and w.entity_type = ?6 and w.entity_id = ?7 and w.event_seq < ?2
  order by w.event_seq desc limit ?4
)
  and (?3 is null or s.status = ?3) and (?8 is null or s.event_type = ?8)
order by s.event_seq desc
limit ?5
