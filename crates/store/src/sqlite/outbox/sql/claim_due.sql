-- Expired leases count as free: their owner died, and delivering twice beats never delivering.
select
  d.seq, d.tenant, n.id, d.generation, d.attempts, d.token is not null, d.unknowns, d.claims, d.waiting_since,
  n.created_at, n.expires_at, n.channel, n.list_name, n.recipients, n.subject, n.body, n.type_data, n.extra, d.site,
  d.superseded,
  exists (select 1 from recipient_results r where r.seq = d.seq)
from due d
join notifications n on n.seq = d.seq
where d.lane = ?1 and d.due_at <= ?2 and (d.leased_until is null or d.leased_until <= ?2)
order by d.due_at, d.seq
limit ?3
