-- As docs/events.md tells applications to.
insert into waypost_outbox (event_id, event_type, entity_id, payload)
values (lower(hex(randomblob(16))), 'booking.confirmed', ?1, '{"guestEmail": "ada@example.org"}')
