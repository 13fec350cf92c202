update sites set session = null, offline_since = ?4, offline_why = ?5
where tenant = ?1 and site = ?2 and session = ?3
