-- $1 relay.
delete from site_relays where relay = $1::uuid and answer is not null returning answer
