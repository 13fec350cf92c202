select seq from sf_messages not indexed order by seq desc
