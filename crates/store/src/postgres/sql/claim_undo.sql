-- $1 now, $2 lanes, $3 token. A claim whose answer was lost: nobody will send these rows, so they are not counted.
update due
set due_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())), claims = greatest(claims - 1, 0), token = null
where seq = any (array(
  select d.seq
  from unnest($2::bigint[]) as given (lane)
  cross join lateral (
    select candidate.seq from due candidate
    -- A claimed row is never due.
    where candidate.lane = given.lane
      and candidate.due_at > coalesce($1::timestamptz, date_trunc('milliseconds', now()))
      and candidate.token = $3::bigint
  ) d
))
