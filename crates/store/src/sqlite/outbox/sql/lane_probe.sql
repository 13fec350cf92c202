-- One node at a time probes, and only when the hold says that it is time.
select config_version, pauses_version, hold_reason, hold_detail, hold_by, hold_code, hold_since, next_probe, probes from lanes
where lane_id = ?1 and hold_reason is not null and next_probe <= ?2
  and (probe_until is null or probe_until <= ?2) and (not_before is null or not_before <= ?2)
