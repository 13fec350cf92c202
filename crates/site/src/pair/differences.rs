//! What differs between the systems and connections of the two machines.

use super::{Pair, seen::Seen};
use std::collections::BTreeMap;

impl Pair {
    /// In words.
    pub(super) fn differences(&self, seen: &Seen) -> Vec<String> {
        let mut all: Vec<_> = self
            .settings
            .local_targets
            .iter()
            .map(|name| format!("{name} leads to this machine itself, which is another one after a takeover"))
            .collect();
        if let Some(about) = seen.about.as_ref().filter(|about| !about.targets.is_empty()) {
            all.extend(compared(&self.settings.targets, &about.targets));
        }
        all
    }
}

/// How the systems and connections of the two differ.
fn compared(here: &BTreeMap<String, Vec<u8>>, there: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let mut all = vec![];
    for (name, digest) in here {
        match there.get(name) {
            None => all.push(format!("{name} is configured here and not at the other machine")),
            Some(other) if other != digest => {
                all.push(format!("{name} is configured otherwise at the other machine"));
            }
            Some(_) => {}
        }
    }
    let only_there = there.keys().filter(|name| !here.contains_key(*name));
    all.extend(only_there.map(|name| format!("{name} is configured at the other machine and not here")));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_the_machines_is_said_in_words() {
        let of = |targets: &[(&str, u8)]| {
            let named = targets.iter().map(|(name, n)| ((*name).to_owned(), vec![*n]));
            named.collect::<BTreeMap<_, _>>()
        };
        let (here, there) = (
            of(&[("erp", 1), ("mes", 1), ("history", 1)]),
            of(&[("erp", 1), ("mes", 2), ("lab", 1)]),
        );
        assert_eq!(
            compared(&here, &there),
            [
                "history is configured here and not at the other machine",
                "mes is configured otherwise at the other machine",
                "lab is configured at the other machine and not here",
            ]
        );
        assert!(compared(&here, &here).is_empty());
    }
}
