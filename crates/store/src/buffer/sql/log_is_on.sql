select exists (select 1 from sqlite_schema where type = 'trigger' and name = 'log_message_new')
