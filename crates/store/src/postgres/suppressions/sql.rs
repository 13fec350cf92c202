//! The statements of this job, named like their files.

statements!(
    suppress,
    suppressed,
    suppressing_tenants,
    suppression_find,
    suppression_is_first,
    suppression_lifted,
    suppression_was_lifted,
    suppressions,
    unsuppress,
);
