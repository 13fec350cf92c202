-- The columns of a unique index as SQLite's errors name them.
select i.tbl_name || '.' || c.name
from sqlite_schema i, pragma_index_info(i.name) c
where i.type = 'index' and i.name = ?1 order by c.seqno
