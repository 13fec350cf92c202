-- $1 now, $2 tenant, $3 the candidates' seqs; then the filter, null for what it does not ask: $4 statuses, $5 channel,
-- $6 site, $7 list, $8 provider, $9 from, $10 to, $11 stuck for milliseconds, $12 entity type, $13 entity id, $14 code,
-- $15 receipt, $16 execution, $17 ended by. The keyword is looked for by the caller, in any script's upper case.
select n.seq, n.subject
from notifications n
left join due d on d.seq = n.seq
left join outcome o on o.seq = n.seq
left join lanes l on l.lane_id = coalesce(d.lane, o.lane)
where n.seq = any ($3::bigint[]) and n.tenant = $2::integer
  and ($4::text[] is null
    or case when d.seq is null then o.status when d.attempts = 0 then 'Pending' else 'Retrying' end = any ($4::text[]))
  and ($5::text is null or n.channel = $5::text)
  and ($6::text is null or n.site = $6::text)
  and ($7::text is null or n.list_name = $7::text)
  and ($8::text is null or l.provider = $8::text)
  and ($9::timestamptz is null or n.created_at >= $9::timestamptz)
  and ($10::timestamptz is null or n.created_at < $10::timestamptz)
  and ($11::float8 is null
    or d.waiting_since < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $11::float8 * interval '1 millisecond')
  and ($12::text is null or n.entity_type = $12::text)
  and ($13::text is null or n.entity_id = $13::text)
  and ($14::text is null or case when d.seq is null then o.code else d.code end = $14::text)
  and ($15::text is null or o.receipt = $15::text)
  and ($16::text is null or n.execution = $16::text)
  and ($17::timestamptz is null or o.at <= $17::timestamptz)
