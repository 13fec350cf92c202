select d.lane from notifications n join due d on d.seq = any (array[n.seq]) where n.tenant = $1::integer and n.id = $2::uuid
