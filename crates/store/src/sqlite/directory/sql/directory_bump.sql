update meta set value = cast(value as integer) + 1 where key = 'directory_version'
