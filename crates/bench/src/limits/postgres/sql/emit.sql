-- $1 type, $2 entity, $3 payload.
select waypost.emit_event('default', 'orders', $1::text, $2::text, ($3::text)::jsonb)
