-- Going on to a channel's next provider.
create table channel_orders (
  tenant integer not null references tenants,
  channel text not null,
  failover boolean not null,
  primary key (tenant, channel)
);

-- Somebody may have it already (an answer that never came, an attempt that was interrupted): it stays with its provider.
alter table due add column in_doubt boolean not null default false;
-- What waits with attempts behind it may have been in doubt before this was written down.
update due set in_doubt = true where attempts > 0;
-- The lanes it has left in this generation. None of nearly every row.
alter table due add column left_lanes bigint[];
