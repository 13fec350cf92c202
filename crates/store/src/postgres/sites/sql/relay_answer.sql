-- $1 relay, $2 answer.
update site_relays set answer = $2::text where relay = $1::uuid
