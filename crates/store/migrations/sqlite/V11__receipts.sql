-- What providers tell later. The SQLite twin of migrations/postgres.

-- A provider's place for callbacks: the secret's hash finds it; the secret itself, sealed, only where each message carries it.
alter table providers add column callback_hash blob;
alter table providers add column callback_sealed text;
create unique index providers_by_callback on providers (callback_hash) where callback_hash is not null;

alter table outcome add column receipt_at integer;
alter table recipient_results add column receipt text;

-- The far ends' ids of what they took, of lanes that get receipts.
create table provider_messages (
  lane integer not null,
  message_id text not null,
  seq integer not null,
  address text not null,
  generation integer not null,
  primary key (lane, message_id, seq, address)
) without rowid;
create index provider_messages_by_seq on provider_messages (seq);

-- Receipts that nobody has worked on yet, and those that have to wait.
create table receipt_inbox (
  receipt_id integer primary key autoincrement,
  tenant integer not null,
  lane integer not null,
  at integer not null,
  next_at integer not null,
  tries integer not null default 0,
  unproven integer not null,
  state text not null check (state in ('accepted','failed','delivered','read')),
  notification blob,
  generation integer,
  address text,
  message_id text,
  number text,
  code text,
  provider_code text,
  detail text,
  hold text
);
create index receipt_inbox_due on receipt_inbox (next_at, receipt_id);
-- The ones that wait for the record of what they are about.
create index receipt_inbox_orphans on receipt_inbox (lane, message_id) where tries > 0 and message_id is not null;
