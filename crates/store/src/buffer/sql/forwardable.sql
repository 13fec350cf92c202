-- Oldest first; the caller goes on behind the last one it took.
select seq, id, payload_json, created_at, origin_instance, source_script, execution_id, parent_execution_id
from sf_messages where category = 1 and status = 0 and seq > ?1 order by seq limit ?2
