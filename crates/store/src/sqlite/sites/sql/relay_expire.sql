-- Whoever asked has given up long ago.
delete from site_relays where asked_at < ?1
