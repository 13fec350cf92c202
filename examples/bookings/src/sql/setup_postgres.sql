create schema if not exists rentals;
create table if not exists rentals.guests (
  id bigint primary key, name text not null, email text, phone text, language text
);
create table if not exists rentals.listings (
  id bigint primary key, name text not null, zone text not null
);
create table if not exists rentals.bookings (
  id bigint primary key, guest_id bigint not null references rentals.guests,
  listing_id bigint not null references rentals.listings, status text not null, checkin date not null, checkout date not null
);
insert into rentals.guests values (678, 'Asha Rao', 'asha@example.com', '+919876543210', 'en') on conflict do nothing;
insert into rentals.listings values (10, 'Cozy Studio', 'Asia/Kolkata') on conflict do nothing;
insert into rentals.bookings values (12345, 678, 10, 'Requested', current_date + 30, current_date + 32) on conflict do nothing;
