insert or replace into site_events (
  seq, at, what, message_id, category, target, n, actor, detail
) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
