-- Arrays: $1 tenant, $2 address as it is compared.
select s.suppression_id, s.tenant, s.address, s.channel, s.topic, s.reason, s.source, s.created_at, s.created_by
from unnest($1::integer[], $2::text[]) as asked (tenant, address_key)
join suppressions s on s.tenant = asked.tenant and s.address_key = asked.address_key
