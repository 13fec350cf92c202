-- Ids that begin alike, newest numbers first. The newest ids are taken first, because a beginning is also a time and may
-- be that of very many.
select seq from (
  select seq from notifications
  where tenant = ?1 and id between ?2 and ?3
  order by id desc
  limit ?5
)
where seq < ?4
order by seq desc
