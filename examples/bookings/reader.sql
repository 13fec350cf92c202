-- The role that lookups run with: it may read what they select and do nothing else. Give it a password as any other role:
-- alter role rentals_reader password '…'
do $$ begin
  create role rentals_reader login;
exception
  -- Roles belong to the whole server, so it may be there already.
  when duplicate_object or unique_violation then null;
end $$;
grant usage on schema rentals to rentals_reader;
grant select on rentals.bookings, rentals.guests, rentals.listings to rentals_reader;
