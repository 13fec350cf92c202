update outcome set status = 'Discarded', at = ?3
where status = 'Parked' and seq = (select seq from notifications where tenant = ?1 and id = ?2)
returning seq, site
