-- Only a parked row goes round again; who lost the race finds nothing here.
delete from outcome
where status = 'Parked' and seq = (select seq from notifications where tenant = ?1 and id = ?2)
returning seq, tenant, site, generation, last_attempt_at
