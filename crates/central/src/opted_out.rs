//! Recipients of whom a provider says that they want no more, on their way to the list of who must not be written to.
//!
//! Leaves to others: which codes say so (each kind's `opt_outs`), storing it and what somebody has taken off since (`store`).

use delivery::{OptOut, OptOutOf};
use domain::{
    Content, Failure, Outcome,
    suppression::{NewSuppression, SuppressionSource},
};

/// The entry for a recipient whom a far end failed with this code; none where the code says something else.
pub(crate) fn entry(
    known: &[OptOut],
    code: Option<&str>,
    address: &str,
    content: &Content,
) -> Option<NewSuppression> {
    let found = OptOut::find(known, code)?;
    let about = || {
        let event = content.event.as_deref()?;
        event.topic.clone().or_else(|| Some(event.event_type.clone()))
    };
    let entry = NewSuppression {
        address: address.to_owned(),
        channel: content.channel,
        topic: match found.of {
            OptOutOf::Everything => None,
            OptOutOf::SuchMessages => about(),
        },
        reason: format!("opted out, as the provider says ({})", found.code),
        source: SuppressionSource::Receipt,
    };
    entry.problems().is_empty().then_some(entry)
}

/// The entries that follow from an attempt; nearly always none.
pub(crate) fn entries(
    known: &[OptOut],
    outcome: &Outcome,
    targets: &[String],
    content: &Content,
) -> Vec<NewSuppression> {
    if known.is_empty() {
        return vec![];
    }
    let of = |address: &String, failure: &Failure| {
        entry(known, failure.provider_code.as_deref(), address, content)
    };
    match outcome {
        Outcome::Delivered(_) => vec![],
        Outcome::Failed(failure) => targets.iter().filter_map(|to| of(to, failure)).collect(),
        Outcome::Mixed(reports) => reports
            .iter()
            .filter_map(|report| of(&report.address, report.result.as_ref().err()?))
            .collect(),
    }
}
