-- $1 tenant, $2 entity type, $3 entity id, $4 the last seq looked at, $5 how many.
select seq, created_at
from notifications
where tenant = $1::integer and entity_type = $2::text and entity_id = $3::text and seq < $4::bigint
order by seq desc
limit $5::bigint
