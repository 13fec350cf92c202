insert into users (name, name_key, password, subject, created_at)
values (?1, ?2, ?3, ?4, ?5)
on conflict do nothing
returning user_id
