-- What a site buffers is named by the program, which is asked wherever it is stored and read: a category more needs no change
-- here.
alter table site_calls drop constraint site_calls_category_check;
