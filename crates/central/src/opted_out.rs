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
            OptOutOf::Topic => Some(about()?),
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

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Channel, EventId, event::EventOrigin};

    const KNOWN: &[OptOut] = &[
        OptOut::everything("17"),
        OptOut::such_messages("131050"),
        OptOut::topic("9"),
    ];

    #[test]
    fn who_wants_no_advertisements_is_kept_from_messages_like_this_one_and_from_no_other() {
        let plain = Content {
            channel: Some(Channel::Sms),
            ..Content::default()
        };
        let of_an_event = Content {
            event: Some(Box::new(EventOrigin {
                event_type: "sale.begun".into(),
                event_id: EventId::mint(),
                topic: None,
                correlation_id: None,
                template: "1".into(),
                template_name: None,
                template_version: 1,
                critical: false,
            })),
            ..plain.clone()
        };
        let topic = |code: &str, content: &Content| {
            entry(KNOWN, Some(code), "+919876543210", content).map(|entry| entry.topic)
        };
        let sale = Some("sale.begun".to_owned());
        for (code, without, with) in [
            ("17", Some(None), Some(None)),
            ("131050", Some(None), Some(sale.clone())),
            ("9", None, Some(sale)),
            ("2", None, None),
        ] {
            assert_eq!(topic(code, &plain), without, "{code}");
            assert_eq!(topic(code, &of_an_event), with, "{code}");
        }
    }
}
