-- Once, when the file is opened: whether the index of categories tells of any row something else than the table does.
select exists (
  select 1 from (select seq, category from sf_messages indexed by idx_sf_messages_category where category >= 0) i
  left join sf_messages m not indexed on m.seq = i.seq
  where m.category is not i.category)
