select cast(value as integer) from meta where key = 'directory_version'
