delete from recipient_results where seq = ?1
