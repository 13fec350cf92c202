select name, recipients from lists where tenant = $1::integer order by name
