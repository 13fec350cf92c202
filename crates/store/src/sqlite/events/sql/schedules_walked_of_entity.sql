-- The same over those of an entity.
select w.event_seq from schedules w
where w.tenant = ?1 and w.entity_type = ?4 and w.entity_id = ?5 and w.event_seq < ?2
order by w.event_seq desc
limit 1 offset ?3
