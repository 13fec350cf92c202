update whole set state = 1, tries = tries + 1, leased_until = 60000
where seq in (select seq from whole where state = 0 and due_at <= 1 order by due_at, seq limit ?1)
returning seq, payload
