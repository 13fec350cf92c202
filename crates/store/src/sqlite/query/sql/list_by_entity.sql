select seq from notifications
where tenant = ?1 and entity_type = ?2 and entity_id = ?3 and seq < ?4
order by seq desc
limit ?5
