-- $1 tenant, $2 provider, $3 channel. Nothing when another node was faster.
insert into lanes (tenant, provider, channel)
values ($1::integer, $2::text, $3::text)
on conflict (tenant, provider, channel) do nothing
