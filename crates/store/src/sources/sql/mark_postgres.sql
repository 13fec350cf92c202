update waypost.outbox_messages set taken_at = now() where event_id = any($1::uuid[]) and taken_at is null
