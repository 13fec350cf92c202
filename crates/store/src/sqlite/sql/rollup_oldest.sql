select min(bucket) from stats
