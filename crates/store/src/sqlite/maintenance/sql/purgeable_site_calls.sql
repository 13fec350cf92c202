select count(*) from (
  select 1 from site_calls where heard_at < ?1 and status in ('Delivered','Parked','Failed','Discarded') limit ?2
)
