delete from site_relays where relay = ?1 and answer is not null returning answer
