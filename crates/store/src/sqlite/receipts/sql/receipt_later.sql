update receipt_inbox set tries = tries + 1, next_at = ?2 where receipt_id = ?1
