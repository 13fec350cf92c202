update outcome set receipt = ?2, receipt_at = ?3 where seq = ?1
