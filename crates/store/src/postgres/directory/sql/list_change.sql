update lists set recipients = $4::text::jsonb
where tenant = $1::integer and name = $2::text and recipients = $3::text::jsonb
