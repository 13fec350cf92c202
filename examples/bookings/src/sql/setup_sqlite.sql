create table if not exists guests (
  id integer primary key, name text not null, email text, phone text, language text
);
create table if not exists listings (
  id integer primary key, name text not null, zone text not null
);
create table if not exists bookings (
  id integer primary key, guest_id integer not null references guests, listing_id integer not null references listings,
  status text not null, checkin text not null, checkout text not null
);
insert or ignore into guests values (678, 'Asha Rao', 'asha@example.com', '+919876543210', 'en');
insert or ignore into listings values (10, 'Cozy Studio', 'Asia/Kolkata');
insert or ignore into bookings values (12345, 678, 10, 'Requested', date('now', '+30 days'), date('now', '+32 days'));
