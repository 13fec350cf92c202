-- $1 tenant, $2 id, $3 hash, $4 sealed, $5 how far the version goes up.
-- A new version, so that adapters carry the new address; a hold stays, because nothing that it is about has changed.
with changed as (
  update providers
  set callback_hash = $3::bytea, callback_sealed = $4::text, version = version + $5::bigint
  where tenant = $1::integer and id = $2::text
  returning lane_id, version
)
update lanes set config_version = changed.version
from changed
where lanes.lane_id = changed.lane_id
