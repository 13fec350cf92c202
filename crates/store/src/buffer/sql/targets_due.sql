-- One step of the index per target, however many rows each has.
with recursive targets (category, target) as (
  select * from (
    select category, target from sf_messages
    where status = 0 and attempting_at is null and (category <> 1 or max_retries > 0)
    order by category, target limit 1)
  union all
  select (
      select m.category from sf_messages m
      where m.status = 0 and m.attempting_at is null and (m.category <> 1 or m.max_retries > 0)
        and (m.category, m.target) > (t.category, t.target)
      order by m.category, m.target limit 1),
    (
      select m.target from sf_messages m
      where m.status = 0 and m.attempting_at is null and (m.category <> 1 or m.max_retries > 0)
        and (m.category, m.target) > (t.category, t.target)
      order by m.category, m.target limit 1)
  from targets t where t.category is not null
)
select t.category, t.target, (
    select min(due_at) from sf_messages d
    where d.category = t.category and d.target = t.target
      and d.status = 0 and d.attempting_at is null and (d.category <> 1 or d.max_retries > 0)) as due_at
from targets t where t.category is not null
