update receipt_inbox set unproven = 0, state = ?2 where receipt_id = ?1
