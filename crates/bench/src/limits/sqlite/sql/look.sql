select count(*) from (select seq from due limit 1)
