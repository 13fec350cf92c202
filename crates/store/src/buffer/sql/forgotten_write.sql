-- Written anew and not changed: a row from which its content is taken keeps the page it had for itself.
insert into tombstones (
  seq, id, target, ended_as, ended_at, ended_by, created_at, max_retries, retry_interval_ms, origin_instance,
  execution_id, source_script, parent_execution_id, content_hash, op
)
select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
  value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13, value ->> 14
from json_each(?1)
