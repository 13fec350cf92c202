select suppression_id, tenant, address, channel, topic, reason, source, created_at, created_by
from suppressions
where tenant = $1::integer and address_key = $2::text and channel = $3::text and topic = $4::text
