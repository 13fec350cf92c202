-- $1 the schema. Two nodes that start at once migrate one after the other; other schemas are not kept waiting.
select pg_advisory_lock(hashtext('waypost migrations'), hashtext($1::text))
