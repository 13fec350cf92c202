-- A report over what was delivered, not over what waits.
select seq from waypost.notifications order by seq limit 1
