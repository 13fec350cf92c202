delete from provider_messages where seq = any ($1::bigint[])
