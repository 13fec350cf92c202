select name, recipients from lists where tenant = ?1 and name = ?2
