-- The columns of `put_event`, in its order.
select seq, at, what, message_id, category, target, n, actor, detail
from site_events where seq between ?1 and ?2 order by seq limit ?3
