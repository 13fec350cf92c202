//! The statements with which a source is read and marked, named like their files.

statements!(
    forget_postgres,
    forget_sqlite,
    look_up_postgres,
    mark_postgres,
    mark_sqlite,
    pending_postgres,
    pending_sqlite,
);
