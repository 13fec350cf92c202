-- $1 now, $2 how long they are kept, in milliseconds, $3 where counting stops.
select count(*) from (
  select o.seq, o.tenant, o.event_id from outbox_messages o
  where o.status <> 'Pending' and o.created_at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
    and not exists (
      select 1 from schedules s
      where s.event_seq = o.seq and (
        s.status = 'Pending' or exists (
          select 1 from jsonb_array_elements(s.messages::jsonb) m
          join notifications n on n.tenant = s.tenant and n.id = (m ->> 'notification')::uuid
        )
      )
    )
  order by o.created_at
  limit $3::bigint
) old
