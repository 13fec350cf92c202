-- $1 receipt. Who comes second finds it locked, or gone.
select receipt_id from receipt_inbox where receipt_id = $1::bigint for update skip locked
