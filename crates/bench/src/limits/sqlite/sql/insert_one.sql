insert into whole (key, payload) values (?1, ?2) on conflict do nothing
