-- ?2 address as it is compared, ?3 channel, ?4 before this id; null means all.
select suppression_id, tenant, address, channel, topic, reason, source, created_at, created_by
from suppressions
where tenant = ?1 and (?2 is null or address_key = ?2) and (?3 is null or channel = ?3)
  and suppression_id < coalesce(?4, 9223372036854775807)
order by suppression_id desc limit ?5
