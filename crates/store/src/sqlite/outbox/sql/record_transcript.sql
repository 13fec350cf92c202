insert into transcripts (seq, token, at, said) values (?1, ?2, ?3, ?4)
on conflict do nothing
