-- What an id was used for, whatever the category. Of a notification the latest end: one that was sent again ends twice.
select 0, content_hash, case status when 2 then 'Parked' end, null from sf_messages where id = ?1
union all
select 1, content_hash, status, null from operation_tracking where tracked_operation_id = ?1
union all
select * from (
  select 2, content_hash, ended_as, payload_json is not null from tombstones where id = ?1 order by seq desc limit 1)
