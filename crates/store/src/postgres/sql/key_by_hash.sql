select key_id, tenant, name, role, created_at, revoked_at
from api_keys
where hash = $1::bytea and revoked_at is null
