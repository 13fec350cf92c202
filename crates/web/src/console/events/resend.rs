//! Sending an entity's message once more, because a person asks.

use super::communications_of;
use crate::{
    console::{
        failure::{Result, Trouble},
        flash::Flash,
        form::Form,
        guard::Signed,
        notification::in_words,
        show::counted,
    },
    problem::Problem,
    state::Shared,
};
use axum::extract::State;
use central::{
    events::{Resend, ResendError, Resent},
    ingest::Submitted,
};
use domain::{Channel, NotificationId, TemplateId};

/// What was chosen: `Email`, or `Email:7` for one template.
fn chosen(text: &str) -> Option<(Channel, Option<TemplateId>)> {
    match text.split_once(':') {
        Some((channel, template)) => Some((channel.parse().ok()?, Some(TemplateId(template.parse().ok()?)))),
        None => Some((text.parse().ok()?, None)),
    }
}

pub async fn resend(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let (Some(entity_type), Some(entity_id)) = (form.text("entityType"), form.text("entityId")) else {
        return Err(Trouble(Problem::field(
            "entityId",
            "give entityType and entityId",
        )));
    };
    let back = communications_of(&entity_type, &entity_id);
    let Some((channel, template)) = form.get("what").and_then(chosen) else {
        return Err(Trouble(Problem::field("what", "is not one of the choices")));
    };
    let request = form.text("request").filter(|text| text.len() <= 100);
    let ask = Resend {
        tenant: signed.caller.tenant,
        entity_type,
        entity_id,
        channel,
        template,
        request: request.unwrap_or_else(|| NotificationId::mint().to_string()),
        actor: signed.caller.actor.clone(),
    };
    let flash = match state.central.events.resend(&ask).await {
        Ok(resent) => resent_in_words(&resent),
        Err(ResendError::Conflict(why)) => Flash::bad(format!("Nothing was sent: {why}.")),
        Err(ResendError::NotFound(what)) => Flash::bad(format!("Nothing was sent: there is no {what}.")),
        Err(ResendError::Fields(bad)) => Flash::bad(format!("Nothing was sent: {}.", in_words(&bad))),
        Err(ResendError::Store(error)) => return Err(error.into()),
    };
    Ok(flash.at(&back, &state.console))
}

fn resent_in_words(resent: &Resent) -> Flash {
    let (mut sent, mut before) = (0u64, 0u64);
    let mut why_not: Vec<String> = vec![];
    for one in &resent.submitted {
        match one {
            Submitted::Refused(bad) => why_not.push(in_words(bad)),
            Submitted::Accepted { .. } => sent += 1,
            Submitted::Duplicate { .. } => before += 1,
        }
    }
    // The form was sent a second time: what it asked for is there, and nothing more goes out.
    if before > 0 {
        let what = counted(before, "message was", "messages were");
        why_not.push(format!("{what} sent for this request before"));
    }
    why_not.extend(resent.skipped.iter().filter_map(|one| one.reason.clone()));
    let why_not = why_not.join("; ");
    match (sent, why_not.is_empty()) {
        (0, _) if before > 0 => Flash::good(format!("Nothing more was sent: {why_not}.")),
        (0, _) => Flash::bad(format!("Nothing was sent: {why_not}.")),
        (sent, true) => Flash::good(format!(
            "{} sent once more.",
            counted(sent, "message is", "messages are")
        )),
        (sent, false) => Flash::good(format!(
            "{} sent once more; not sent: {why_not}.",
            counted(sent, "message is", "messages are")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_channel_or_one_template_of_it() {
        assert_eq!(chosen("Email"), Some((Channel::Email, None)));
        assert_eq!(chosen("Sms:7"), Some((Channel::Sms, Some(TemplateId(7)))));
        for bad in ["", "Pigeon", "Sms:", "Sms:x", ":7"] {
            assert_eq!(chosen(bad), None, "{bad}");
        }
    }
}
