//! A template as a file: TOML with the names of the API, found by what it is for.

use crate::exit::usage;
use anyhow::Context;
use client::TemplateDraft;
use std::path::{Path, PathBuf};

/// What a file of a template is called, below the folder: `booking.confirmed/Email.default.en-IN.toml`.
pub fn path(draft: &TemplateDraft) -> PathBuf {
    let scope = match (&draft.scope_type, &draft.scope_id) {
        (Some(scope_type), Some(scope_id)) => Some(format!("{scope_type}={scope_id}")),
        _ => None,
    };
    let name = draft.name.as_deref().unwrap_or(DEFAULT_NAME);
    let parts = [
        Some(draft.channel.as_str()),
        Some(name),
        scope.as_deref(),
        draft.language.as_deref(),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().map(plain).collect();
    Path::new(&plain(&draft.event_type)).join(parts.join(".") + ".toml")
}

const DEFAULT_NAME: &str = "default";

/// A name as part of a file's name, on every system; other characters as their code, so that no two names meet.
fn plain(name: &str) -> String {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '=');
    let mut plain = String::new();
    for (i, c) in name.chars().enumerate() {
        match fine(c) && !(i == 0 && c == '.') {
            true => plain.push(c),
            false => plain.push_str(&format!("%{:X}", u32::from(c))),
        }
    }
    plain
}

pub fn read(path: &Path) -> anyhow::Result<TemplateDraft> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let draft = toml::from_str(&text);
    draft.map_err(|e| usage(format!("{}: {}", path.display(), e.message())))
}

pub fn write(path: &Path, draft: &TemplateDraft) -> anyhow::Result<()> {
    let told = || path.display().to_string();
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(told)?;
    }
    std::fs::write(path, toml::to_string_pretty(draft)?).with_context(told)
}

/// Every file of a template below a folder, in the order of their names.
pub fn below(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    /// A folder of templates is not deep; a link in a circle is.
    const DEEPEST: usize = 8;
    let mut found = vec![];
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() && depth < DEEPEST {
                folders.push((path, depth + 1));
            } else if path.extension().is_some_and(|ending| ending == "toml") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether two are the same but for their version.
pub fn same(one: &TemplateDraft, other: &TemplateDraft) -> bool {
    let bare = |draft: &TemplateDraft| TemplateDraft {
        version: None,
        name: Some(draft.name.clone().unwrap_or_else(|| DEFAULT_NAME.into())),
        ..draft.clone()
    };
    bare(one) == bare(other)
}

/// Whether two are the same variant.
pub fn same_identity(one: &TemplateDraft, row: &client::TemplateRow) -> bool {
    let language = |text: Option<&str>| text.map(|text| text.replace('_', "-").to_ascii_lowercase());
    one.event_type == row.event_type
        && one.channel == row.channel
        && one.name.as_deref().unwrap_or(DEFAULT_NAME) == row.name
        && language(one.language.as_deref()) == language(row.language.as_deref())
        && one.scope_type == row.scope_type
        && one.scope_id == row.scope_id
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(text: &str) -> TemplateDraft {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn what_is_written_is_read_back_the_same() {
        let text = "eventType = 'booking.confirmed'\nchannel = 'Email'\nlanguage = 'en-IN'\nversion = 3\nsubject = 'Hi \"{{guestName}}\"'\nbody = \"\"\"\nDear {{guestName}},\n\n\tsee 'you' \\\\ \\u0007 on {{checkinDate}}.\n\"\"\"\nbodyHtml = \"<p class='a'>\\r\\n{{x}}</p>\"\n[providerTemplate]\nname = 'n'\nparams = ['a', '{{b}}']\n";
        let folder = tempfile::tempdir().unwrap();
        let one = draft(text);
        let file = folder.path().join(path(&one));
        write(&file, &one).unwrap();
        assert_eq!(read(&file).unwrap(), one);
        assert_eq!(below(folder.path()).unwrap(), [file]);
        assert!(same(
            &one,
            &TemplateDraft {
                version: Some(9),
                name: Some("default".into()),
                ..one.clone()
            }
        ));
    }

    #[test]
    fn no_name_leaves_the_folder_and_no_two_meet() {
        let one = draft(
            "eventType = '../..'\nchannel = 'Sms'\nname = 'a/b'\nscopeType = 'listing'\nscopeId = '1 0'\n",
        );
        assert_eq!(
            path(&one),
            Path::new("%2E.%2F..").join("Sms.a%2Fb.listing=1%200.toml")
        );
        let plain_one = draft("eventType = 'booking.confirmed'\nchannel = 'Email'\n");
        assert_eq!(
            path(&plain_one),
            Path::new("booking.confirmed/Email.default.toml")
        );
    }
}
