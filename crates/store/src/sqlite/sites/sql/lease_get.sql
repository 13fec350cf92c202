-- ?1 tenant, ?2 site, ?3 now.
select lease_counter, lease_turn, lease_holder, max(lease_until - ?3, 0) as lease_left, lease_database, lease_doubt
from sites where tenant = ?1 and site = ?2
