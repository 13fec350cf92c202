//! The secrets among a provider's settings: taken out and sealed on the way in, masked on the way out.
//!
//! Leaves to others: the cipher (`secrets`), what a kind's settings are (`delivery`).
//! Always true: a secret is stored sealed, however its name is written; of a secret URL the stored settings keep what
//! may be shown; a secret that is kept goes nowhere it was not given for.

use crate::{
    directory::{get_setting, put_setting, take_setting},
    secrets::{Place, Sealer},
};
use delivery::{
    KindInfo, Setting, SettingType,
    redact::{MASK, shown_url},
};
use domain::{FieldError, ProviderId, TenantId};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use store::directory::NewProvider;

/// Whose secrets they are.
pub(crate) struct Owner<'a> {
    pub sealer: &'a Sealer,
    pub info: &'a KindInfo,
    pub tenant: TenantId,
    pub provider: &'a ProviderId,
}

/// Settings with their secrets taken out.
#[derive(Debug, Default)]
pub(crate) struct Sealed {
    /// As they are stored and shown.
    pub settings: Map<String, Value>,
    pub secrets: BTreeMap<String, String>,
    /// As the kind reads them.
    pub opened: Map<String, Value>,
    pub problems: Vec<FieldError>,
}

/// What somebody says about a secret.
enum SecretChange {
    Fresh(String),
    /// As it is: left out, or sent back as it was shown.
    Kept,
    Removed,
}

impl Owner<'_> {
    fn place<'a>(&'a self, setting: &'a str) -> Place<'a> {
        Place {
            tenant: self.tenant,
            provider: self.provider,
            setting,
        }
    }

    /// Seals what is given and keeps what is not.
    pub fn seal(&self, given: Map<String, Value>, current: Option<&NewProvider>) -> Sealed {
        // A node of an earlier version may have stored it a moment ago.
        let repaired = current.and_then(|stored| Some((stored, self.seal_stored(stored)?)));
        if let Some((stored, repaired)) = repaired {
            let repaired = NewProvider {
                settings: repaired.settings,
                secrets: repaired.secrets,
                ..stored.clone()
            };
            return self.seal(given, Some(&repaired));
        }
        let mut sealed = Sealed::default();
        sealed.settings = self.nested(given, &mut sealed.problems);
        let (mut plain, mut kept) = (vec![], vec![]);
        for setting in self.info.secrets() {
            let given = take(&mut sealed.settings, setting.name);
            let shown = current.and_then(|current| get_setting(&current.settings, setting.name));
            let old = current.and_then(|current| current.secrets.get(setting.name));
            match (read(setting, given, shown), old) {
                (Ok(SecretChange::Fresh(text)), _) => {
                    sealed.put(self, setting, &text);
                    plain.push((setting.name, text));
                }
                (Ok(SecretChange::Kept), Some(old)) => {
                    sealed.secrets.insert(setting.name.to_owned(), old.clone());
                    if let Some(shown) = shown {
                        put_setting(&mut sealed.settings, setting.name, shown.clone());
                    }
                    match self.sealer.open(self.place(setting.name), old) {
                        Ok(text) => plain.push((setting.name, text)),
                        Err(e) => sealed.problem(setting.name, e.to_string()),
                    }
                    kept.push(setting);
                }
                (Ok(SecretChange::Kept | SecretChange::Removed), _) => {}
                (Err(why), _) => sealed.problem(setting.name, why),
            }
        }
        sealed.opened = sealed.settings.clone();
        for (name, text) in plain {
            put_setting(&mut sealed.opened, name, self.info.unsealed(name, text));
        }
        if let Some(current) = current {
            self.ask_again(current, &kept, &mut sealed);
        }
        sealed
    }

    /// A kept secret whose way out changes has to be given again: who may change a host could otherwise have it sent to
    /// a machine of their own.
    fn ask_again(&self, current: &NewProvider, kept: &[&Setting], sealed: &mut Sealed) {
        let mut before = current.settings.clone();
        for (name, old) in &current.secrets {
            // One that cannot be opened has been named already.
            if let Ok(text) = self.sealer.open(self.place(name), old) {
                put_setting(&mut before, name, self.info.unsealed(name, text));
            }
        }
        for setting in kept {
            let changed =
                |name: &&&str| self.info.value(&before, name) != self.info.value(&sealed.opened, name);
            if let Some(changed) = setting.sent_to.iter().find(changed) {
                let why = format!(
                    "has to be given again, because {changed} changes and it would be sent elsewhere"
                );
                sealed.problem(setting.name, why);
            }
        }
    }

    /// `"oauth.tokenUrl"` is `tokenUrl` inside `oauth`, where a setting is called so.
    fn nested(&self, given: Map<String, Value>, problems: &mut Vec<FieldError>) -> Map<String, Value> {
        let (dotted, mut settings): (Vec<_>, Map<_, _>) = {
            let is_dotted =
                |name: &str| name.contains('.') && self.info.settings.iter().any(|s| s.name == name);
            let (dotted, plain): (Vec<_>, Vec<_>) = given.into_iter().partition(|(name, _)| is_dotted(name));
            (dotted, plain.into_iter().collect())
        };
        for (name, value) in dotted {
            if get_setting(&settings, &name).is_some() {
                problems.push(FieldError::new(format!("settings.{name}"), "is given twice"));
            }
            let outer = name.split_once('.').map_or("", |(outer, _)| outer);
            match settings.get(outer) {
                None | Some(Value::Object(_)) => {}
                Some(Value::Null) => drop(settings.remove(outer)),
                Some(_) => {
                    problems.push(FieldError::new(
                        format!("settings.{outer}"),
                        "must hold settings by name",
                    ));
                    continue;
                }
            }
            put_setting(&mut settings, &name, value);
        }
        settings
    }

    /// Seals what an earlier version stored in clear: secrets under their dotted names, and what was no secret then.
    /// None when there is nothing to do.
    pub fn seal_stored(&self, stored: &NewProvider) -> Option<Sealed> {
        let mut sealed = Sealed {
            settings: self.nested(stored.settings.clone(), &mut vec![]),
            secrets: stored.secrets.clone(),
            ..Sealed::default()
        };
        let mut found = false;
        for setting in self.info.secrets() {
            let Some(value) = take_setting(&mut sealed.settings, setting.name) else {
                continue;
            };
            let is_shown = value.as_str().is_some_and(is_masked);
            match read(setting, Some(value.clone()), None) {
                _ if is_shown && stored.secrets.contains_key(setting.name) => {
                    put_setting(&mut sealed.settings, setting.name, value);
                }
                Ok(SecretChange::Fresh(text)) => {
                    sealed.put(self, setting, &text);
                    found = true;
                }
                // Nothing a kind could use was there.
                _ => found = true,
            }
        }
        found.then_some(sealed)
    }
}

impl Sealed {
    fn put(&mut self, owner: &Owner<'_>, setting: &Setting, text: &str) {
        let sealed = owner.sealer.seal(owner.place(setting.name), text);
        self.secrets.insert(setting.name.to_owned(), sealed);
        if setting.kind == SettingType::Url {
            put_setting(&mut self.settings, setting.name, shown_url(text).into());
        }
    }

    fn problem(&mut self, name: &str, why: impl Into<String>) {
        self.problems
            .push(FieldError::new(format!("settings.{name}"), why));
    }
}

/// Takes a secret out. Where all of `oauth` is null, so is each setting in it.
fn take(settings: &mut Map<String, Value>, name: &str) -> Option<Value> {
    match name.split_once('.') {
        Some((outer, _)) if settings.get(outer) == Some(&Value::Null) => Some(Value::Null),
        _ => take_setting(settings, name),
    }
}

/// `shown`: what was shown of the one that is there.
fn read(
    setting: &Setting,
    given: Option<Value>,
    shown: Option<&Value>,
) -> Result<SecretChange, &'static str> {
    match given {
        None => Ok(SecretChange::Kept),
        Some(Value::Null) => Ok(SecretChange::Removed),
        Some(value) if Some(&value) == shown => Ok(SecretChange::Kept),
        Some(Value::String(text)) if text == MASK || text.is_empty() => Ok(SecretChange::Kept),
        Some(Value::String(text)) if setting.kind == SettingType::Url && text.contains(MASK) => {
            Err("has to be given whole; what is shown of it is not enough")
        }
        Some(Value::String(text)) => Ok(SecretChange::Fresh(text)),
        Some(Value::Object(map)) if setting.kind == SettingType::Map => Ok(match map.is_empty() {
            true => SecretChange::Removed,
            false => SecretChange::Fresh(Value::Object(map).to_string()),
        }),
        Some(_) => Err("must be text"),
    }
}

fn is_masked(text: &str) -> bool {
    text.ends_with(MASK)
}

/// The settings as they may be shown: secrets masked.
pub(crate) fn masked(provider: &NewProvider) -> Map<String, Value> {
    let mut settings = provider.settings.clone();
    for name in provider.secrets.keys() {
        let shown = get_setting(&settings, name).and_then(Value::as_str);
        if !shown.is_some_and(is_masked) {
            put_setting(&mut settings, name, MASK.into());
        }
    }
    settings
}
