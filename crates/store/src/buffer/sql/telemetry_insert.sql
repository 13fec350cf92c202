-- `or fail`: see enqueue.sql.
insert or fail into telemetry (body_json) values (?1)
