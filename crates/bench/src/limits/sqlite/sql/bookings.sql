create table bookings (
  id integer primary key,
  guest text not null,
  note text not null
);
