//! Errors in words.

use std::error::Error;

/// An error with its causes, on one line, nothing said twice.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct CausedError(&'static str, #[source] Option<Box<CausedError>>);

    #[test]
    fn causes_follow_what_they_caused_and_nothing_is_said_twice() {
        let deepest = Box::new(CausedError("refused", None));
        let middle = Box::new(CausedError("cannot connect: refused", Some(deepest)));
        let error = CausedError("no answer", Some(middle));
        assert_eq!(chain(&error), "no answer: cannot connect: refused");
    }
}
