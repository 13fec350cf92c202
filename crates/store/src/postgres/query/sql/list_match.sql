-- $1 now, $2 tenant, $3 the candidates' seqs; then the filter, null for what it does not ask: $4 statuses, $5 channel,
-- $6 from, $7 to, $8 stuck for milliseconds, $9 ended by, $10 whether words are looked for; from $11 on the texts, in the order
-- in which `domain::TextFilter` declares them. Words are looked for by the caller, in any script's upper case. What a far end
-- called it for each of several recipients is read only for them.
select n.seq, n.subject, n.recipients::text as recipients, o.resolved_targets::text as resolved_targets, o.provider_message_id,
  case when $10::boolean then (
    select string_agg(r.provider_message_id, ' ') from recipient_results r where r.seq = any (array[n.seq])
  ) end as recipients_message_ids
from notifications n
left join due d on d.seq = any (array[n.seq])
left join outcome o on o.seq = n.seq
left join lanes l on l.lane_id = coalesce(d.lane, o.lane)
where n.seq = any ($3::bigint[]) and n.tenant = $2::integer
  and ($4::text[] is null
    or case when d.seq is null then o.status when d.attempts = 0 then 'Pending' else 'Retrying' end = any ($4::text[]))
  and ($5::text is null or n.channel = $5::text)
  and ($6::timestamptz is null or n.created_at >= $6::timestamptz)
  and ($7::timestamptz is null or n.created_at < $7::timestamptz)
  and ($8::float8 is null
    or d.waiting_since < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $8::float8 * interval '1 millisecond')
  and ($9::timestamptz is null
    or case when d.seq is null then o.at <= $9::timestamptz else d.generation = 0 or d.waiting_since <= $9::timestamptz end)
  and ($11::text is null or n.site = $11::text)
  and ($12::text is null or n.list_name = $12::text)
  and ($13::text is null or l.provider = $13::text)
  and ($14::text is null or n.entity_type = $14::text)
  and ($15::text is null or n.entity_id = $15::text)
  and ($16::text is null or $16::text in (
    case when d.seq is null then o.code else d.code end, case when d.seq is null then o.provider_code else d.provider_code end
  ))
  and ($17::text is null or o.receipt = $17::text)
  and ($18::text is null or n.execution = $18::text)
