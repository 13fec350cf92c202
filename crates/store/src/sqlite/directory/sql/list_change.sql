-- Both texts are of our own making, so equal recipients are equal texts.
update lists set recipients = ?4 where tenant = ?1 and name = ?2 and recipients = ?3
