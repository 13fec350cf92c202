-- The tenant's own waiting rows, in no order: read through the index by age, so other tenants' backlogs cost nothing.
select seq from due indexed by due_by_age
where tenant = ?1 and waiting_since < ?2 and seq < ?3
limit ?4
