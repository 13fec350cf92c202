-- Each change of a row that is copied leaves its key in the log, in the transaction that makes it.
create trigger if not exists log_message_new after insert on sf_messages begin insert into replication_log (tbl, key) values (1, new.seq); end;
create trigger if not exists log_message_changed after update on sf_messages begin insert into replication_log (tbl, key) values (1, new.seq); end;
create trigger if not exists log_message_gone after delete on sf_messages begin insert into replication_log (tbl, key) values (1, old.seq); end;
create trigger if not exists log_tombstone_new after insert on tombstones begin insert into replication_log (tbl, key) values (2, new.seq); end;
create trigger if not exists log_tombstone_changed after update on tombstones begin insert into replication_log (tbl, key) values (2, new.seq); end;
create trigger if not exists log_tombstone_gone after delete on tombstones begin insert into replication_log (tbl, key) values (2, old.seq); end;
create trigger if not exists log_tracking_new after insert on operation_tracking begin insert into replication_log (tbl, key) values (3, new.tracked_operation_id); end;
create trigger if not exists log_tracking_changed after update on operation_tracking begin insert into replication_log (tbl, key) values (3, new.tracked_operation_id); end;
create trigger if not exists log_tracking_gone after delete on operation_tracking begin insert into replication_log (tbl, key) values (3, old.tracked_operation_id); end;
create trigger if not exists log_event_new after insert on site_events begin insert into replication_log (tbl, key) values (4, new.seq); end;
create trigger if not exists log_event_changed after update on site_events begin insert into replication_log (tbl, key) values (4, new.seq); end;
create trigger if not exists log_event_gone after delete on site_events begin insert into replication_log (tbl, key) values (4, old.seq); end;
create trigger if not exists log_telemetry_new after insert on telemetry begin insert into replication_log (tbl, key) values (5, new.seq); end;
create trigger if not exists log_telemetry_changed after update on telemetry begin insert into replication_log (tbl, key) values (5, new.seq); end;
create trigger if not exists log_telemetry_gone after delete on telemetry begin insert into replication_log (tbl, key) values (5, old.seq); end;
-- What is known of central, how far back the memory reaches, the number of the last change. The rest is about this file alone.
create trigger if not exists log_meta_new after insert on meta when new.key in ('central', 'forgotten_until', 'op')
begin insert into replication_log (tbl, key) values (6, new.key); end;
create trigger if not exists log_meta_changed after update on meta when new.key in ('central', 'forgotten_until', 'op')
begin insert into replication_log (tbl, key) values (6, new.key); end;
