delete from site_calls
where call_id in (
  select call_id from site_calls
  where heard_at < ?1 and status in ('Delivered','Parked','Failed','Discarded')
  order by heard_at
  limit ?2
)
