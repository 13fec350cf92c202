-- The query of the configuration, whatever its columns are; a second row is one too many. A row that is too long stays where it is.
select case when octet_length(line) <= /* longest */ then line end
from (select row_to_json(found)::text as line from (/* query */) found limit 2) lines
