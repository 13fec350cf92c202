//! One JSON object per event: when, how bad, where, what, and the fields under the names they were given.
//!
//! The subscriber's own JSON leaves out what caused an error; here `error` is the whole chain.

use domain::chain;
use domain::{Clock, SystemClock};
use serde_json::{Map, Value};
use std::{error::Error, fmt};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    fmt::{FmtContext, FormatEvent, FormattedFields, format::JsonFields, format::Writer},
    registry::LookupSpan,
};

/// For use with [`JsonFields`], which keeps the fields of spans as JSON.
#[derive(Debug)]
pub struct JsonLines;

impl<S> FormatEvent<S, JsonFields> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, JsonFields>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = Line(Map::new());
        line.put("timestamp", SystemClock.now().to_string());
        line.put("level", event.metadata().level().as_str());
        line.put("target", event.metadata().target());
        for span in context.event_scope().into_iter().flatten() {
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<JsonFields>>();
            if let Some(Value::Object(fields)) = fields.and_then(|f| serde_json::from_str(&f.fields).ok()) {
                line.0.extend(fields);
            }
        }
        event.record(&mut line);
        writeln!(writer, "{}", Value::Object(line.0))
    }
}

struct Line(Map<String, Value>);

impl Line {
    fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0
            .insert(name.trim_start_matches("r#").to_owned(), value.into());
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field.name(), format!("{value:?}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.put(field.name(), chain(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field.name(), value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field.name(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};
    use tracing_subscriber::fmt::MakeWriter;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Kept {
        type Writer = Self;
        fn make_writer(&'a self) -> Self {
            self.clone()
        }
    }

    #[test]
    fn a_line_has_the_cause_of_its_error_and_the_fields_of_its_spans() {
        let kept = Kept::default();
        let subscriber = tracing_subscriber::fmt()
            .fmt_fields(JsonFields::new())
            .event_format(JsonLines)
            .with_writer(kept.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let error = store::Error::unavailable("connection refused");
            let _span = tracing::info_span!("request", request.id = "r1").entered();
            tracing::warn!(notification.id = %7, error = &error as &dyn Error, "it \"failed\"\nbadly");
        });
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.lines().count(), 1);
        let line: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["error"], "the store is unavailable: connection refused");
        assert_eq!(
            (&line["request.id"], &line["notification.id"]),
            (&"r1".into(), &"7".into())
        );
        assert_eq!(
            (&line["level"], &line["message"]),
            (&"WARN".into(), &"it \"failed\"\nbadly".into())
        );
    }
}
