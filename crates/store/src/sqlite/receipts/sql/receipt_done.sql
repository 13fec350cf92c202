delete from receipt_inbox where receipt_id = ?1
