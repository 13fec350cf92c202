-- When somebody took an address off the list: what a provider said before that puts nobody on it again.
create table suppressions_lifted (
  tenant integer not null references tenants,
  address_key text not null,
  lifted_at timestamptz not null,
  primary key (tenant, address_key)
);
