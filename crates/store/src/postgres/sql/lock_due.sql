lock table due in access share mode
