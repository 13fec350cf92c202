//! What a message may say to one kind besides its texts: checked where it comes in, and again before it goes out.

use crate::adapter::read_data;
use domain::{Content, FieldError};
use serde::de::DeserializeOwned;

/// `typeData` as one kind knows it.
pub(crate) trait MessageData: DeserializeOwned + Default {
    /// What is wrong with it, and with the texts it comes with, as far as it can be told without a provider's settings.
    fn problems(&self, _content: &Content, _bad: &mut ContentProblems) {}
}

/// Fields of a message that a kind cannot send.
#[derive(Debug, Default)]
pub(crate) struct ContentProblems(Vec<FieldError>);

impl ContentProblems {
    /// `name` stands below `typeData`.
    pub fn data(&mut self, name: &str, problem: impl Into<String>) {
        self.0.push(FieldError::new(format!("typeData.{name}"), problem));
    }

    /// For services that take no empty message, where subject and body are all there is.
    pub fn blank_text(&mut self, content: &Content) {
        if content.body.trim().is_empty() && content.subject.trim().is_empty() {
            self.field("body", "must not be blank: the service takes no empty message");
        }
    }

    /// The same for services that show an HTML body too.
    pub fn blank_text_or_html(&mut self, content: &Content) {
        if content
            .body_html
            .as_deref()
            .is_none_or(|html| html.trim().is_empty())
        {
            self.blank_text(content);
        }
    }

    pub fn field(&mut self, name: &str, problem: impl Into<String>) {
        self.0.push(FieldError::new(name, problem));
    }
}

/// Every field of the content that a kind with this data cannot send.
pub(crate) fn content_problems<D: MessageData>(content: &Content) -> Vec<FieldError> {
    let data: D = match read_data(content) {
        Ok(data) => data,
        Err(why) => return vec![FieldError::new("typeData", format!("cannot be read: {why}"))],
    };
    let mut bad = ContentProblems::default();
    data.problems(content, &mut bad);
    bad.0
}
