drop database if exists :name with (force)
