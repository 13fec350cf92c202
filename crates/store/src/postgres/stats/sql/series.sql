select bucket, what, n
from stats_rollup
where tenant = $1::integer and step = $2::integer and bucket >= $3::timestamptz
