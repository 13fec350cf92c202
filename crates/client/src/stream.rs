//! Watching live: central's server-sent events.

use crate::{
    Client, Result,
    http::{NONE, checked},
};
use domain::{NotificationId, Status, kpi::Kpis};
use futures_util::{Stream, StreamExt, stream};
use reqwest::{Method, Response};
use serde::{Deserialize, Serialize};
use std::{collections::VecDeque, time::Duration};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "event")]
pub enum Event {
    #[serde(rename_all = "camelCase")]
    Change {
        notification_id: NotificationId,
        status: Status,
        error_code: Option<String>,
    },
    Kpis(Kpis),
    /// So many changes went by while this listener was too slow.
    Missed {
        changes: u64,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChangeData {
    notification_id: NotificationId,
    status: Status,
    error_code: Option<String>,
}

#[derive(Deserialize)]
struct MissedData {
    changes: u64,
}

/// Longer silence than this means the connection is dead: figures come every few seconds.
const SILENCE: Duration = Duration::from_secs(60);
/// A stream is never over; the request as a whole has a day.
const DAY: Duration = Duration::from_secs(86_400);

impl Client {
    /// Changes and figures as they happen. Ends with an error when central goes away.
    pub async fn stream(&self) -> Result<impl Stream<Item = Result<Event>> + Send + use<>> {
        let request = self.request(Method::GET, &["api", "stream"], NONE).timeout(DAY);
        let answer = self.send(request.header("accept", "text/event-stream")).await?;
        let reader = Reader {
            client: self.clone(),
            answer: checked(answer, self).await?,
            parser: Parser::default(),
            ready: VecDeque::new(),
        };
        Ok(stream::unfold(Some(reader), |reader| async move {
            let mut reader = reader?;
            match reader.next().await {
                Ok(Some(event)) => Some((Ok(event), Some(reader))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        })
        .boxed())
    }
}

struct Reader {
    client: Client,
    answer: Response,
    parser: Parser,
    ready: VecDeque<Event>,
}

impl Reader {
    async fn next(&mut self) -> Result<Option<Event>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let chunk = match tokio::time::timeout(SILENCE, self.answer.chunk()).await {
                Ok(chunk) => chunk.map_err(|e| self.client.unreachable(e))?,
                Err(_) => return Ok(None),
            };
            let Some(chunk) = chunk else { return Ok(None) };
            self.ready.extend(self.parser.take(&chunk));
        }
    }
}

/// Cuts a byte stream into events. What it does not know it skips.
#[derive(Debug, Default)]
struct Parser {
    line: Vec<u8>,
    name: String,
    data: String,
}

impl Parser {
    fn take(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = vec![];
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = String::from_utf8_lossy(&std::mem::take(&mut self.line))
                .trim_end_matches('\r')
                .to_owned();
            match line.split_once(':') {
                _ if line.is_empty() => events.extend(self.finish()),
                Some(("event", name)) => self.name = name.trim().to_owned(),
                Some(("data", data)) => {
                    if !self.data.is_empty() {
                        self.data.push('\n');
                    }
                    self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
                }
                _ => {}
            }
        }
        events
    }

    fn finish(&mut self) -> Option<Event> {
        let (name, data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
        match name.as_str() {
            "change" => serde_json::from_str(&data)
                .ok()
                .map(|c: ChangeData| Event::Change {
                    notification_id: c.notification_id,
                    status: c.status,
                    error_code: c.error_code,
                }),
            "kpis" => serde_json::from_str(&data).ok().map(Event::Kpis),
            "missed" => serde_json::from_str(&data)
                .ok()
                .map(|m: MissedData| Event::Missed { changes: m.changes }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_found_however_the_bytes_are_cut() {
        let text = b": hello\n\nevent: missed\ndata: {\"changes\": 3}\n\nevent: change\r\n\
            data: {\"notificationId\":\"0197f6f0-0000-7000-8000-000000000001\",\"status\":\"Parked\",\
            \"errorCode\":\"HTTP_400\"}\r\n\r\nevent: unheard-of\ndata: 1\n\n";
        let mut parser = Parser::default();
        let events: Vec<_> = text.chunks(5).flat_map(|chunk| parser.take(chunk)).collect();
        assert_eq!(events.len(), 2);
        assert_eq!(events[0], Event::Missed { changes: 3 });
        assert!(matches!(
            &events[1],
            Event::Change {
                status: Status::Parked,
                ..
            }
        ));
    }
}
