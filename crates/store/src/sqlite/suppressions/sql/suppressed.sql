-- ?1: JSON, pairs of tenant and address as it is compared.
select s.suppression_id, s.tenant, s.address, s.channel, s.topic, s.reason, s.source, s.created_at, s.created_by
from json_each(?1) asked
join suppressions s on s.tenant = asked.value ->> 0 and s.address_key = asked.value ->> 1
