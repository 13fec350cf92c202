select exists (select from pg_namespace where nspname = $1::text)
