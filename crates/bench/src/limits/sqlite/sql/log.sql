insert into log (seq, at, what, detail) values (?1, 1, 1, '200 OK')
