-- The query of the configuration, whatever its columns are; a second row is one too many.
select row_to_json(found)::text from (/* query */) found limit 2
