select 1 from meta where key = 'directory_version'
