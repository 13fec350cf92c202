-- $1 receipt, $2 state.
update receipt_inbox set unproven = false, state = $2::text where receipt_id = $1::bigint
