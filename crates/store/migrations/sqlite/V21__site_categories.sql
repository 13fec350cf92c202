-- What a site buffers is named by the program, which is asked wherever it is stored and read: a category more needs no change
-- here. The text of the declaration is changed and the table is not written anew. The SQLite twin of migrations/postgres.
pragma writable_schema = on;
update sqlite_schema set sql = replace(sql,
    ' check (category in (''ExternalSystem'',''CachedDbWrite'',''Notification''))', '')
  where type = 'table' and name = 'site_calls';
pragma writable_schema = reset;
