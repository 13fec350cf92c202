//! How large what goes over the link may be. Each bound is as small as what legitimate partners say allows: a stranger with
//! a key of a site makes the other side hold no more than that.

/// The most one frame carries, in rows and bytes: small enough that neighbours on a slow line get a turn, large enough that
/// a frame is worth a commit.
pub const FRAME_ITEMS: usize = 500;
pub const FRAME_BYTES: usize = 1 << 20;
/// The most a single notification may weigh. The fullest one takes 4.3 MiB.
pub const ITEM_BYTES: usize = 6 << 20;
/// The largest frame either side takes. The fullest legitimate one is a frame of news about calls, 5.6 MiB.
pub const MESSAGE_BYTES: usize = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::v1;
    use domain::submission::limit;
    use prost::Message;

    /// As many characters, each of the widest kind.
    fn wide(chars: usize) -> String {
        "🚰".repeat(chars)
    }

    fn name() -> Option<String> {
        Some(wide(limit::NAME))
    }

    #[test]
    fn the_fullest_notification_fits_and_little_else() {
        let full = v1::Notification {
            id: vec![7; 16],
            recipients: vec![wide(limit::ADDRESS); limit::RECIPIENTS],
            provider: name(),
            subject: wide(limit::SUBJECT),
            body: "x".repeat(limit::BODY),
            body_html: Some("x".repeat(limit::BODY)),
            type_data: Some("x".repeat(limit::TYPE_DATA)),
            entity_type: name(),
            entity_id: name(),
            rule_name: name(),
            rule_id: name(),
            run_id: name(),
            supersedes_key: name(),
            instance: name(),
            script: name(),
            execution: name(),
            parent_execution: name(),
            ..v1::Notification::default()
        };
        let bytes = full.encoded_len();
        assert!((4 << 20..ITEM_BYTES).contains(&bytes), "{bytes}");
        // With what stands around it in a frame.
        const { assert!(ITEM_BYTES + (1 << 10) < MESSAGE_BYTES) };
    }

    #[test]
    fn the_fullest_frame_of_news_and_the_fullest_pages_of_messages_fit() {
        // The site keeps errors in bytes, names in characters.
        let error = Some("x".repeat(limit::ERROR));
        let news = v1::OperationNews {
            id: vec![7; 16],
            operation: vec![7; 16],
            category: "CachedDbWrite".into(),
            target: wide(limit::NAME),
            summary: name(),
            event: "Attempted".into(),
            status: "Retrying".into(),
            error: error.clone(),
            instance: name(),
            script: name(),
            node: name(),
            execution: name(),
            parent_execution: name(),
            actor: name(),
            ..v1::OperationNews::default()
        };
        let news = v1::Telemetry {
            news: vec![news; FRAME_ITEMS],
        };
        let parked = v1::ParkedMessage {
            id: "x".repeat(36),
            category: "CachedDbWrite".into(),
            target: wide(limit::NAME),
            last_error: error.clone(),
            instance: name(),
            script: name(),
            summary: name(),
            ..v1::ParkedMessage::default()
        };
        let parked = v1::Parked {
            messages: vec![parked; FRAME_ITEMS],
            ..v1::Parked::default()
        };
        let waiting = v1::WaitingMessage {
            id: "x".repeat(36),
            category: "CachedDbWrite".into(),
            target: wide(limit::NAME),
            last_error: error.clone(),
            instance: name(),
            script: name(),
            summary: name(),
            held: error,
            ..v1::WaitingMessage::default()
        };
        let waiting = v1::Waiting {
            messages: vec![waiting; FRAME_ITEMS],
            ..v1::Waiting::default()
        };
        assert!(waiting.encoded_len() < MESSAGE_BYTES, "{}", waiting.encoded_len());
        let (news, parked) = (news.encoded_len(), parked.encoded_len());
        assert!((5 << 20..MESSAGE_BYTES).contains(&news), "{news}");
        assert!(parked < MESSAGE_BYTES, "{parked}");
    }
}
