-- `or fail`: see enqueue.sql.
insert or fail into site_events (at, what, message_id, category, target, n, actor, detail) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
