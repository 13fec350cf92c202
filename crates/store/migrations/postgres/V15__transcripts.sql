-- What was said in attempts, for a while. Long texts stand apart from what is claimed and listed, and are found by the
-- attempt alone.
create table transcripts (
  seq bigint not null,
  -- the token of the attempt: its row of the audit log, or of the outcome, has the same
  token bigint not null,
  at timestamptz not null,
  -- as store/src/transcripts.rs writes it
  said text not null,
  primary key (seq, token)
);
create index transcripts_by_age on transcripts (at);
