-- Once, when the file is opened. A text in which a bit has turned over may be none.
select count(*) filter (where heard_at is null) as waiting, count(heard_at) as heard,
  coalesce(sum(octet_length(body_json)) filter (where heard_at is null), 0) as waiting_bytes,
  coalesce(sum(octet_length(body_json)) filter (where heard_at is not null), 0) as heard_bytes
from telemetry
