-- The queue, without the rows that are gone. A vacuum leaves those that somebody's open transaction might still see; to such
-- a transaction the queue is empty from now on, which is why nobody may have looked at it yet.
do $$
declare
  waiting due[];
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    -- What is committed while this waits for the lock must be seen, or it would be lost.
    raise exception 'the queue is compacted in a transaction that sees what others commit';
  end if;
  -- Whoever waits for this lock keeps everybody else waiting.
  set local lock_timeout = '100ms';
  lock table due in access exclusive mode;
  if pg_relation_size('due') < 128 * 1024 * 1024 then
    -- Another node was here first.
    return;
  end if;
  set local enable_seqscan = on;
  select array_agg(d) into waiting from (select * from due limit 100001) d;
  if cardinality(waiting) > 100000 then
    return;
  end if;
  truncate due;
  insert into due select (w).* from unnest(waiting) w;
end
$$
