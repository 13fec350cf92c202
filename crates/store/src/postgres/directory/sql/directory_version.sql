select value::bigint from meta where key = 'directory_version'
