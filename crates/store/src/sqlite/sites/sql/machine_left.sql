-- With it those that nobody has said the end of: their node of central died.
delete from site_machines where tenant = ?1 and site = ?2 and (session = ?3 or last_contact_at < ?4)
