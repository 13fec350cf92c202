-- Only what has ended has an outcome.
select n.seq from notifications n join outcome o on o.seq = n.seq where n.tenant = ?1 and n.id = ?2
