update site_relays set answer = ?2 where relay = ?1
