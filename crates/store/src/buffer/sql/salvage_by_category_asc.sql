select seq from sf_messages indexed by idx_sf_messages_category where category >= 0 order by category asc, seq asc
