//! A handler that answers as its script says.

use async_trait::async_trait;
use domain::{Failure, Scope};
use site::{Delivered, Failed, Handler};
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex},
};
use store::buffer::{Message, MessageId};
use tokio::sync::watch;

#[derive(Debug, Clone)]
pub enum Reply {
    Delivered,
    Permanent,
    Transient,
    /// Answers once the gate is opened.
    AtGate,
    Panic,
}

type Script = Box<dyn FnMut(&Message) -> Reply + Send>;

#[derive(Clone)]
pub struct Scripted(Arc<Inner>);

struct Inner {
    script: Mutex<Script>,
    attempts: Mutex<Vec<(MessageId, i64)>>,
    unknown: Mutex<Vec<String>>,
    gate: watch::Sender<bool>,
    waiting: watch::Sender<usize>,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

impl Scripted {
    pub fn new() -> Self {
        Self(Arc::new(Inner {
            script: Mutex::new(Box::new(|_| Reply::Delivered)),
            attempts: Mutex::default(),
            unknown: Mutex::default(),
            gate: watch::Sender::new(false),
            waiting: watch::Sender::new(0),
        }))
    }

    pub fn script(&self, script: impl FnMut(&Message) -> Reply + Send + 'static) {
        *self.0.script.lock().unwrap() = Box::new(script);
    }

    pub fn always(&self, reply: Reply) {
        self.script(move |_| reply.clone());
    }

    /// This target is not configured.
    pub fn does_not_know(&self, targets: &[&str]) {
        *self.0.unknown.lock().unwrap() = targets.iter().map(|t| t.to_string()).collect();
    }

    pub fn attempts(&self) -> usize {
        self.0.attempts.lock().unwrap().len()
    }

    pub fn attempts_of(&self, id: MessageId) -> usize {
        let counted = self.0.attempts.lock().unwrap();
        counted.iter().filter(|(other, _)| *other == id).count()
    }

    /// The highest attempt number each message was seen with.
    pub fn numbers(&self) -> HashMap<MessageId, i64> {
        let mut highest = HashMap::new();
        for (id, number) in self.0.attempts.lock().unwrap().iter() {
            let seen = highest.entry(*id).or_insert(0);
            *seen = (*seen).max(*number);
        }
        highest
    }

    pub fn open_gate(&self) {
        self.0.gate.send_replace(true);
    }

    pub async fn waiting(&self, n: usize) {
        let _ = self.0.waiting.subscribe().wait_for(|waiting| *waiting >= n).await;
    }
}

#[async_trait]
impl Handler for Scripted {
    async fn deliver(&self, message: &Message) -> Result<Delivered, Failed> {
        self.0
            .attempts
            .lock()
            .unwrap()
            .push((message.id, message.attempt));
        let reply = (self.0.script.lock().unwrap())(message);
        match reply {
            Reply::Delivered => Ok(Delivered {
                result: Some("done".into()),
                http_status: Some(200),
            }),
            Reply::Permanent => Err(Failed {
                failure: Failure::permanent(Scope::Message, "HTTP_400", "no such order"),
                http_status: Some(400),
            }),
            Reply::Transient => Err(Failed {
                failure: Failure::transient(Scope::Message, "HTTP_503", "busy"),
                http_status: Some(503),
            }),
            Reply::AtGate => {
                let mut gate = self.0.gate.subscribe();
                self.0.waiting.send_modify(|n| *n += 1);
                let _ = gate.wait_for(|open| *open).await;
                self.0.waiting.send_modify(|n| *n -= 1);
                Ok(Delivered::default())
            }
            Reply::Panic => panic!("the script says so"),
        }
    }

    fn serves(&self, target: &str) -> bool {
        !self.0.unknown.lock().unwrap().iter().any(|t| t == target)
    }
}
