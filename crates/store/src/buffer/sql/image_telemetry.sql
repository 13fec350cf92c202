-- The columns of `put_telemetry`, in its order.
select seq, body_json, heard_at
from telemetry where seq between ?1 and ?2 order by seq limit ?3
