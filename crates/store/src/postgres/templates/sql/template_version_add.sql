-- $1 now.
insert into message_template_versions (template_id, version, content, saved_at, saved_by)
values (
  $2::bigint, $3::bigint, $4::text, coalesce($1::timestamptz, date_trunc('milliseconds', now())), $5::text
)
