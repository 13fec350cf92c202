-- What was said in attempts, for a while. Long texts stand apart from what is claimed and listed, and are found by the
-- attempt alone. The SQLite twin of migrations/postgres.
create table transcripts (
  transcript_id integer primary key,
  seq integer not null,
  -- the token of the attempt: its row of the audit log, or of the outcome, has the same
  token integer not null,
  at integer not null,
  -- as store/src/transcripts.rs writes it
  said text not null,
  unique (seq, token)
);
create index transcripts_by_age on transcripts (at);
