-- The columns of `put_meta`, in its order.
select key, value
from meta where key between ?1 and ?2 and key in ('central', 'forgotten_until', 'op') order by key limit ?3
