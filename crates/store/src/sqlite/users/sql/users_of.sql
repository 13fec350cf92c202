-- Whoever may anything in the tenant, with what they may elsewhere.
select u.user_id, u.name, u.password, u.subject, u.created_at, u.last_sign_in_at, u.disabled_at, r.tenant, r.role
from user_roles of
join users u on u.user_id = of.user_id
join user_roles r on r.user_id = u.user_id
where of.tenant = ?1
order by u.name_key, r.tenant
