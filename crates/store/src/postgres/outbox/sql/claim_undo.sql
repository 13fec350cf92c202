-- $1 lanes, $2 token, $3 how far to look. A claim whose answer was lost: nobody will send these rows, so they are not
-- counted. What is claimed is what has been due longest.
update due
set leased_until = null, claims = greatest(claims - 1, 0), token = null
where seq = any (array(
  select d.seq
  from unnest($1::bigint[]) as given (lane)
  cross join lateral (
    select candidate.seq, candidate.token from due candidate
    where candidate.lane = given.lane
    order by candidate.due_at, candidate.seq
    limit $3::bigint
  ) d
  where d.token = $2::bigint
))
