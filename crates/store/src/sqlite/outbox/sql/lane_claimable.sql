-- Nothing is claimed from a lane that is held or paused.
select config_version, pauses_version from lanes
where lane_id = ?1 and hold_reason is null and (not_before is null or not_before <= ?2)
