update providers set secrets = ?4 where tenant = ?1 and id = ?2 and version = ?3
