select seq from sf_messages indexed by idx_sf_messages_status where status >= 0 order by status asc, seq asc
