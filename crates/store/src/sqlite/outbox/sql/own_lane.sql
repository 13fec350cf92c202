update lanes set owner = ?2, owner_until = ?4
where lane_id = ?1 and (owner is null or owner = ?2 or owner_until <= ?3)
