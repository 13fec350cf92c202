update schedules s set messages = given.messages
from unnest($1::bigint[], $2::text[]) as given (seq, messages)
where s.seq = any (array[given.seq])
