-- What has waited too long is found by its number, which follows the time of acceptance: an index less to write for each message.
drop index due_by_age;
