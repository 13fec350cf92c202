insert or replace into meta (
  key, value
) values (?1, ?2)
