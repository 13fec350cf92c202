update providers set settings = ?4, secrets = ?5 where tenant = ?1 and id = ?2 and version = ?3
