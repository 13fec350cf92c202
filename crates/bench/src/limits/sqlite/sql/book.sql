insert into bookings (id, guest, note) values (?1, 'Ada Lovelace', 'A room with a view of the harbour, two nights, breakfast.')
