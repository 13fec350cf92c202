select exists (select 1 from lanes where lane_id = ?1)
