//! Each filter as something that can be taken off.

use super::ListQuery;

impl ListQuery {
    /// Each filter in words, with the address of the view without it.
    pub fn chips(&self) -> Vec<(String, String)> {
        let mut chips = vec![];
        let mut chip = |text: String, without: ListQuery| {
            chips.push((text, format!("/notifications?{}", without.query())));
        };
        for status in &self.status {
            let mut without = self.clone();
            without.status.retain(|s| s != status);
            chip(status.to_string(), without);
        }
        if self.stuck {
            chip(
                "Stuck only".into(),
                ListQuery {
                    stuck: false,
                    ..self.clone()
                },
            );
        }
        if let Some(channel) = self.channel {
            chip(
                channel.to_string(),
                ListQuery {
                    channel: None,
                    ..self.clone()
                },
            );
        }
        for (one, value) in self.by.given() {
            let mut without = self.clone();
            without.by.set(one, None);
            chip(format!("{}: {value}", one.label), without);
        }
        for (text, times) in self.times.chips() {
            chip(
                text,
                ListQuery {
                    times,
                    ..self.clone()
                },
            );
        }
        if let Some(q) = &self.q {
            let without = ListQuery {
                q: None,
                ..self.clone()
            };
            chip(format!("Search: {q}"), without);
        }
        chips
    }
}
