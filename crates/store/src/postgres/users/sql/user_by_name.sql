select u.user_id, u.name, u.password, u.subject, u.created_at, u.last_sign_in_at, u.disabled_at, r.tenant, r.role
from users u left join user_roles r on r.user_id = u.user_id
where u.name_key = $1::text
order by r.tenant
