-- $1 the channel; null ends it.
with ended as (
  delete from meta where key = 'events_channel' and $1::text is null
)
insert into meta (key, value)
select 'events_channel', $1::text where $1::text is not null
on conflict (key) do update set value = excluded.value where meta.value <> excluded.value
