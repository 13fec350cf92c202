-- Taking in: one table, its key unique, an index on what is due.
create table whole (
  seq bigint generated always as identity primary key,
  key text not null unique,
  payload text not null,
  state smallint not null default 0,
  tries smallint not null default 0,
  due_at timestamptz not null default now(),
  leased_until timestamptz,
  ended_at timestamptz
);
create index whole_due on whole (due_at, seq) where state = 0;

-- Sending out: what is written once apart from what changes, and a row for each attempt.
create table message (
  seq bigint generated always as identity primary key,
  key text not null unique,
  payload text not null
);
create table work (
  seq bigint primary key,
  due_at timestamptz not null default now(),
  tries smallint not null default 0
) with (fillfactor = 50);
create index work_due on work (due_at, seq);
create table log (
  log_id bigint generated always as identity primary key,
  seq bigint not null,
  at timestamptz not null default now(),
  what smallint not null,
  detail text
);
