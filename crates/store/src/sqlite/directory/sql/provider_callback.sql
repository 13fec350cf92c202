-- A new version, so that adapters carry the new address; a hold stays, because nothing that it is about has changed.
update providers set callback_hash = ?3, callback_sealed = ?4, version = version + ?5 where tenant = ?1 and id = ?2
returning lane_id, version
