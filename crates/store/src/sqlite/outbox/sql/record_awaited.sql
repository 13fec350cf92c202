-- A receipt that came before the record is looked at now.
update receipt_inbox set next_at = ?3 where lane = ?1 and message_id = ?2 and tries > 0
