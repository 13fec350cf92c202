select exists (select from users)
