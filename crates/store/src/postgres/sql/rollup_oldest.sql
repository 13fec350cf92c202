select min(bucket) as oldest from stats
