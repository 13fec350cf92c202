-- An event goes with its schedule, after the notifications that this names; its id stays spent. The trigger does both.
delete from outbox_messages
where seq in (
  select o.seq from outbox_messages o
  where o.status <> 'Pending' and o.created_at < ?1
    and not exists (
      select 1 from schedules s
      where s.event_seq = o.seq and (
        s.status = 'Pending' or exists (
          select 1 from json_each(s.messages) m
          join notifications n on n.tenant = s.tenant
            and n.id = unhex(replace(m.value ->> '$.notification', '-', ''))
        )
      )
    )
  order by o.created_at
  limit ?2
)
