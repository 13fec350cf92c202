select tries, at from receipt_inbox where receipt_id = ?1
