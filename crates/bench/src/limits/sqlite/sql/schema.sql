-- The same promises as the prototypes on PostgreSQL. One writer needs no second table to stay out of its own way.
create table whole (
  seq integer primary key,
  key text not null unique,
  payload text not null,
  state integer not null default 0,
  tries integer not null default 0,
  due_at integer not null default 0,
  leased_until integer,
  ended_at integer
);
create index whole_due on whole (due_at, seq) where state = 0;
create table log (
  log_id integer primary key,
  seq integer not null,
  at integer not null,
  what integer not null,
  detail text
);
