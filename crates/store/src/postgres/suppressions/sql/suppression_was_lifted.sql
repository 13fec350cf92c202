select exists (
  select from suppressions_lifted where tenant = $1::integer and address_key = $2::text and lifted_at >= $3::timestamptz
)
