-- $1 tenant, $2 entity type, $3 entity id, $4 how many at most. In the order of the index, so that it is the one that is read.
select count(*)
from (
  select 1
  from notifications
  where tenant = $1::integer and entity_type = $2::text and entity_id = $3::text
  order by seq desc
  limit $4::bigint
) counted
