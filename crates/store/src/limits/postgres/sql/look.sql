select seq from waypost.due order by seq limit 1
