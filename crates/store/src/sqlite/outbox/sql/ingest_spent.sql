-- An id that was purged is still known.
select exists (select 1 from spent_keys where tenant = ?1 and id = ?2)
