-- When a notification was accepted, when it waited again after central had acknowledged it, and when it was handed over
-- (its tombstone is the record of that: a line in the event log for each would be as many again).
select created_at, case when queued_at > created_at then queued_at end as again_at, null as handed_at, target
from sf_messages where id = ?1 and category = 1
union all
select created_at, null, case ended_as when 'Delivered' then ended_at end, target from tombstones where id = ?1
