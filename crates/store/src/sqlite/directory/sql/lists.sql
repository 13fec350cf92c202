select name, recipients from lists where tenant = ?1 order by name
