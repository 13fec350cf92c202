-- The numbers of categories are the program's (`domain::site::Category`): a category more needs no change here.
pragma writable_schema = on;
update sqlite_schema set sql = replace(sql, ' check (category in (0, 1, 2))', '')
  where type = 'table' and name = 'sf_messages';
pragma writable_schema = reset;
