select s.user_id, s.tenant, s.csrf, s.created_at, s.expires_at
from sessions s join users u on u.user_id = s.user_id
where s.hash = ?1 and s.expires_at > ?2 and u.disabled_at is null
