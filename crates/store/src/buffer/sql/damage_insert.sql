insert into damage (at, what, file, recovered, lost) values (?1, ?2, ?3, ?4, ?5)
