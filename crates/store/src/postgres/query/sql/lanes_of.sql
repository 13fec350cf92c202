-- $1 tenant, $2 where counting stops: the figure is for people.
select
  l.lane_id, l.tenant, l.provider, l.config_version, l.not_before,
  l.hold_reason, l.hold_detail, l.hold_by, l.hold_code, l.hold_since, l.next_probe, l.probes,
  (select count(*) from (select from due d where d.lane = l.lane_id limit $2::bigint) counted) as waiting
from lanes l
where l.tenant = $1::integer
order by l.lane_id
