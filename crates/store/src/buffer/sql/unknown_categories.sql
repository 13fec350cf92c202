-- Once, when the file is opened: rows of a category that this program does not know. ?1 is the highest it knows.
select seq, quote(category) as category from sf_messages not indexed
where typeof(category) <> 'integer' or category not between 0 and ?1
