-- Whether one candidate passes the filter. Words are looked for by the caller, in any script's upper case. What a far
-- end called it for each of several recipients is read only for them (?9). From ?10 on the texts, in the order in which
-- `domain::TextFilter` declares them.
select n.subject, n.recipients, o.resolved_targets, o.provider_message_id,
  iif(?9, (select group_concat(r.provider_message_id, ' ') from recipient_results r where r.seq = n.seq), null)
from notifications n
left join due d on d.seq = n.seq
left join outcome o on o.seq = n.seq
left join lanes l on l.lane_id = coalesce(d.lane, o.lane)
where n.seq = ?1 and n.tenant = ?2
  and (?3 is null or instr(?3, ',' || case when d.seq is null then o.status when d.attempts = 0 then 'Pending' else 'Retrying' end || ',') > 0)
  and (?4 is null or n.channel = ?4)
  and (?5 is null or n.created_at >= ?5)
  and (?6 is null or n.created_at < ?6)
  and (?7 is null or d.waiting_since < ?7)
  and (?8 is null or iif(d.seq is null, o.at <= ?8, d.generation = 0 or d.waiting_since <= ?8))
  and (?10 is null or n.site = ?10)
  and (?11 is null or n.list_name = ?11)
  and (?12 is null or l.provider = ?12)
  and (?13 is null or n.entity_type = ?13)
  and (?14 is null or n.entity_id = ?14)
  and (?15 is null or ?15 in (iif(d.seq is null, o.code, d.code), iif(d.seq is null, o.provider_code, d.provider_code)))
  and (?16 is null or o.receipt = ?16)
  and (?17 is null or n.execution = ?17)
