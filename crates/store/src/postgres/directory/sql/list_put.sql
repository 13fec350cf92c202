insert into lists (tenant, name, recipients)
values ($1::integer, $2::text, $3::text::jsonb)
on conflict (tenant, name) do update set recipients = excluded.recipients
