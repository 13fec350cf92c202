-- How a provider's last attempts went is found however many others were made meanwhile. Attempts that delivered are on their
-- outcome and cost nothing here; those in the log are the ones that failed, or have more to tell. Who asks without a target is not
-- served by it.
create index audit_attempts on audit_log (tenant, target, at, audit_id)
  where kind = 'NotifyDeliver' and status = 'Attempted' and target is not null;
