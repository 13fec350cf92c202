insert into template_settings (tenant, settings) values (?1, ?2)
on conflict (tenant) do update set settings = excluded.settings
