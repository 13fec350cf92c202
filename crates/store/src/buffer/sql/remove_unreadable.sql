-- The very row that was set aside just before, in the same transaction.
delete from sf_messages where seq = ?1
