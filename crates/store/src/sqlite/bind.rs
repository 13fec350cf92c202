//! Binding values to the statements that every row goes through.

/// Executes a statement with these values, in its order. Each is bound by its own type; through a list of `dyn ToSql` each costs
/// several times as much, which with twenty values for every message is seen.
///
/// A statement that is executed this way is never executed by another: what was bound stays bound.
macro_rules! execute {
    ($statement:expr; $($value:expr),+ $(,)?) => {
        (|| -> rusqlite::Result<usize> {
            let statement = &mut *$statement;
            let mut place = 0_usize;
            $(
                place += 1;
                statement.raw_bind_parameter(place, $value)?;
            )+
            debug_assert_eq!(place, statement.parameter_count());
            statement.raw_execute()
        })()
    };
}

pub(crate) use execute;
