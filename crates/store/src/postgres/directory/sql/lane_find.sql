select lane_id, config_version from lanes
where tenant = $1::integer and provider = $2::text and channel = $3::text
