//! Each filter as something that can be taken off.

use super::{Asked, range::range_word};

impl Asked {
    /// Each filter in words, with the address of the view without it.
    pub fn chips(&self) -> Vec<(String, String)> {
        let mut chips = vec![];
        let mut chip = |text: String, without: Asked| {
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
                Asked {
                    stuck: false,
                    ..self.clone()
                },
            );
        }
        if let Some(channel) = self.channel {
            chip(
                channel.to_string(),
                Asked {
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
        for (name, label, value) in self.typed() {
            let Some(value) = value else { continue };
            let mut without = self.clone();
            without.forget(name);
            let value = match name {
                "range" => range_word(value).unwrap_or(value).to_owned(),
                "from" | "to" => self
                    .moment(value)
                    .map_or(value.to_owned(), |at| self.zone.minute(at)),
                _ => value.to_owned(),
            };
            chip(format!("{label}: {value}"), without);
        }
        chips
    }
}
