select exists (select 1 from suppressions_lifted where tenant = ?1 and address_key = ?2 and lifted_at >= ?3)
