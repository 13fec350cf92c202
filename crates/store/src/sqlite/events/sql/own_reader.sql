insert into event_readers (name, owner, owner_until) values (?1, ?2, ?4)
on conflict (name) do update set owner = excluded.owner, owner_until = excluded.owner_until
where event_readers.owner = excluded.owner or event_readers.owner_until <= ?3
