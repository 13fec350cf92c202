-- $1 now, $2 hash.
select s.user_id, s.tenant, s.csrf, s.created_at, s.expires_at
from sessions s join users u on u.user_id = s.user_id
where s.hash = $2::bytea and s.expires_at > coalesce($1::timestamptz, date_trunc('milliseconds', now())) and u.disabled_at is null
