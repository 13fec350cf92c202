-- Every change of a row writes a line. Numbers go on from the last line, which is never let go of; keeping the last number in
-- `sqlite_sequence` as well cost as much as the line itself.
insert into replication_log (number, tbl, key)
select seq, 0, '' from sqlite_sequence
where name = 'replication_log' and not exists (select 1 from replication_log where number >= seq);
pragma writable_schema = on;
update sqlite_schema set sql = replace(sql, 'integer primary key autoincrement', 'integer primary key')
  where type = 'table' and name = 'replication_log';
pragma writable_schema = reset;
delete from sqlite_sequence where name = 'replication_log';
