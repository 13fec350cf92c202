insert into template_settings (tenant, settings) values ($1::integer, $2::text)
on conflict (tenant) do update set settings = excluded.settings
