//! Which variant of a template an event gets: the most specific scope, then its language, that language without its
//! region, and the variant for everybody. A variant in another language is better than no message.

use super::{Payload, TemplateIdentity, identity::canonical_language};
use crate::Channel;
use std::collections::BTreeMap;

/// How well a variant's language fits, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LanguageFit {
    Exact,
    Base,
    ForAll,
    Other,
}

/// The variant that fits best; none if each is for something else. All are of one template.
pub fn choose<'a, T: AsRef<TemplateIdentity>>(
    variants: impl IntoIterator<Item = &'a T>,
    values: &Payload,
    language: Option<&str>,
) -> Option<&'a T> {
    let wanted = language.and_then(canonical_language);
    let fitting = variants.into_iter().filter_map(|variant| {
        let identity = variant.as_ref();
        let scope = scope_fit(identity, values)?;
        let language = language_fit(identity.language.as_deref(), wanted.as_deref());
        // Two scopes that both fit are taken in the order of their names, so that every node takes the same.
        let order = (language == LanguageFit::Other, scope, language);
        Some(((order, &identity.scope, &identity.language), variant))
    });
    fitting
        .min_by(|(one, _), (other, _)| one.cmp(other))
        .map(|(_, variant)| variant)
}

/// One variant of each template, in the order of channel and name.
pub fn choose_all<'a, T: AsRef<TemplateIdentity>>(
    variants: impl IntoIterator<Item = &'a T>,
    values: &Payload,
    language: Option<&str>,
) -> Vec<&'a T> {
    let mut templates: BTreeMap<(Channel, &str), Vec<&'a T>> = BTreeMap::new();
    for variant in variants {
        let identity = variant.as_ref();
        templates
            .entry((identity.channel, &identity.name))
            .or_default()
            .push(variant);
    }
    templates
        .into_values()
        .filter_map(|variants| choose(variants, values, language))
        .collect()
}

/// 0 for a scope that fits, 1 for none; none for a scope that does not fit.
fn scope_fit(identity: &TemplateIdentity, values: &Payload) -> Option<u8> {
    match &identity.scope {
        None => Some(1),
        Some(scope) => {
            let id = values.get(&format!("{}.id", scope.scope_type));
            (id == Some(scope.scope_id.as_str())).then_some(0)
        }
    }
}

fn language_fit(has: Option<&str>, wanted: Option<&str>) -> LanguageFit {
    let base = |language: &str| language.split('-').next().map(str::to_owned);
    match (has, wanted) {
        (None, _) => LanguageFit::ForAll,
        (Some(has), Some(wanted)) if has == wanted => LanguageFit::Exact,
        (Some(has), Some(wanted)) if base(wanted).as_deref() == Some(has) => LanguageFit::Base,
        _ => LanguageFit::Other,
    }
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
