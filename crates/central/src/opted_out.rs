//! Recipients of whom a provider says that they want no more, on their way to the list of who must not be written to.
//!
//! Leaves to others: which codes say so (each kind's `opt_outs`), what follows from one (`domain::opt_out`), what is told
//! later and storing it (`store`).

use domain::{Content, Failure, OptOut, Outcome, suppression::NewSuppression};

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
        let (channel, event) = (content.channel, content.event.as_deref());
        OptOut::entry(known, failure.provider_code.as_deref(), address, channel, event)
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
