select seq from notifications where tenant = $1::integer and id = $2::uuid
