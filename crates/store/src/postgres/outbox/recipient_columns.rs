//! What became of recipients turned on its side: `unnest` takes one array per column.

use super::record_columns::{List, Text, own_code};
use crate::postgres::{
    audit::without_nul,
    types::{At, millis},
};
use domain::{Seq, settle::RecipientUpdate};
use std::{borrow::Cow, collections::HashSet};

#[derive(Default)]
pub(super) struct Recipients<'a> {
    seq: Vec<i64>,
    address: Vec<Cow<'a, str>>,
    state: Vec<&'static str>,
    generation: Vec<i32>,
    provider_message_id: Vec<Text<'a>>,
    code: Vec<Text<'a>>,
    error: Vec<Text<'a>>,
    provider_code: Vec<Text<'a>>,
    provider: Vec<Option<&'a str>>,
    tries: Vec<i32>,
    wait: Vec<Option<f64>>,
}

impl<'a> Recipients<'a> {
    /// Each address once: the last word counts.
    pub fn add(
        &mut self,
        seq: Seq,
        generation: i32,
        provider: Option<&'a str>,
        updates: impl IntoIterator<Item = &'a RecipientUpdate, IntoIter: DoubleEndedIterator>,
    ) {
        let mut seen = HashSet::new();
        for update in updates.into_iter().rev() {
            if !seen.insert(update.address.as_str()) {
                continue;
            }
            let cause = update.cause.as_ref();
            self.seq.push(seq.0);
            self.address.push(without_nul(&update.address));
            self.state.push(update.state.as_str());
            self.generation.push(generation);
            self.provider_message_id
                .push(update.provider_message_id.as_deref().map(without_nul));
            self.code.push(cause.map(|cause| without_nul(&cause.code)));
            self.error.push(cause.map(|cause| without_nul(&cause.error)));
            self.provider_code.push(cause.and_then(own_code));
            self.provider.push(provider);
            self.tries.push(i32::from(update.tried));
            self.wait.push(update.wait.map(millis));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.seq.is_empty()
    }

    pub fn params<'p>(&'p self, now: &'p Option<At>) -> List<'p> {
        vec![
            now,
            &self.seq,
            &self.address,
            &self.state,
            &self.generation,
            &self.provider_message_id,
            &self.code,
            &self.error,
            &self.provider_code,
            &self.provider,
            &self.tries,
            &self.wait,
        ]
    }
}
