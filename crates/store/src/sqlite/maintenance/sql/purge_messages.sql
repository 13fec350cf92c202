delete from provider_messages where seq = ?1
