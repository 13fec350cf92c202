select grant_emit($1::text, $2::text)
