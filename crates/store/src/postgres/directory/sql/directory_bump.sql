-- Keeps changes of the directory one after the other until they commit.
update meta set value = (value::bigint + 1)::text where key = 'directory_version'
