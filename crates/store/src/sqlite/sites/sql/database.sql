select (select value from meta where key = 'database_id') as id, (select value from meta where key = 'epoch') as epoch
