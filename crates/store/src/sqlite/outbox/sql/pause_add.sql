-- Never shortens a pause.
insert into pauses (lane, key, until, reason)
values (?1, ?2, ?3, ?4)
on conflict (lane, key) do update set until = excluded.until, reason = excluded.reason
where pauses.until < excluded.until
