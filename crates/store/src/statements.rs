//! SQL by name: a statement is a file in the `sql/` folder beside the `sql.rs` that lists it.
//!
//! Always true: what is listed is used (the compiler warns otherwise), and what is in the folder is listed.

/// Makes a constant of each file `sql/NAME.sql` beside the caller.
macro_rules! statements {
    ($($name:ident),* $(,)?) => {
        $(
            #[allow(non_upper_case_globals, reason = "a statement is named like its file")]
            pub(crate) const $name: &str = include_str!(concat!("sql/", stringify!($name), ".sql"));
        )*

        #[cfg(test)]
        #[test]
        fn every_file_is_a_statement_somebody_uses() {
            crate::statements::assert_complete(file!(), &[$(stringify!($name)),*]);
        }
    };
}

/// `lister` is the file that lists, as the compiler names it: from the workspace's root.
#[cfg(test)]
pub(crate) fn assert_complete(lister: &str, listed: &[&str]) {
    use std::{collections::BTreeSet, path::Path};
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(lister)
        .with_file_name("sql");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .map(|name| name.strip_suffix(".sql").unwrap().to_owned())
        .collect();
    assert_eq!(files, listed.iter().map(ToString::to_string).collect());
}
