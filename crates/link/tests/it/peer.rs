//! The two machines of a site: who is let in, and that a stranger learns nothing.

use async_trait::async_trait;
use domain::{
    FieldError, SiteId,
    lock::lock,
    pair::{Changes, Copied, History, Node, Rank, Relief, Role, Row, RowValue, Table, Value},
    site::{Category, OperationStatus},
};
use link::{
    Address,
    peer::{
        self, About, FarEndRefusal, HandIn, NotSent, PeerHost, PeerOptions, PeerSession, SendAnswered,
        SendAsked, SendRefused, SendTaken, TakenIn,
    },
    server,
};
use secrecy::SecretString;
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub const KEY: &str = "wps_of_north";

/// A machine that has one row, and keeps what it is told.
pub struct Machine {
    node: Node,
    met: Mutex<Vec<About>>,
    /// How many questions came from who had been met, and why none is answered any more.
    pub asked: Mutex<u64>,
    pub hangs: Mutex<Option<String>>,
    handed_in: Mutex<Vec<Row>>,
    pub sent: Mutex<Vec<SendAsked>>,
}

impl Machine {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            node: a_node(Role::Active),
            met: Mutex::default(),
            asked: Mutex::default(),
            hangs: Mutex::default(),
            handed_in: Mutex::default(),
            sent: Mutex::default(),
        })
    }
}

pub fn a_node(role: Role) -> Node {
    Node {
        id: Uuid::new_v4(),
        role,
        history: History::default().with_turn(Uuid::new_v4(), 6, 1, 1),
        position: 9,
        floor: 3,
        stale: true,
        joined: Some(Uuid::new_v4()),
        vouches: Some(Uuid::new_v4()),
    }
}

fn a_row() -> Row {
    let values = [
        RowValue::Integer(i64::MIN),
        RowValue::Text(&[0xff, 0xfe]),
        RowValue::Null,
        RowValue::Real(0.5),
        RowValue::Blob(&[0, 1]),
    ];
    values.into_iter().collect()
}

fn the_changes(after: i64) -> Changes {
    Changes {
        from: after,
        to: 8,
        head: 9,
        gone: vec![(Table::Tracking, Value::Text(b"x".to_vec()))],
        rows: vec![(Table::Messages, a_row())],
        sequences: vec![(Table::Messages, 77)],
        turn: Some((4, Uuid::from_u128(5))),
    }
}

struct Host(Arc<Machine>);

#[async_trait]
impl PeerHost for Host {
    fn about(&self) -> About {
        About {
            name: "north-a".into(),
            version: "1.0".into(),
            schema: 5,
            targets: BTreeMap::from([("system erp".into(), vec![1, 2])]),
        }
    }

    async fn node(&self) -> Result<Node, String> {
        Ok(self.0.node.clone())
    }

    async fn met(&self, about: About, _: Node) -> Result<(), String> {
        if about.schema < 5 {
            return Err("update the standby first".into());
        }
        lock(&self.0.met).push(about);
        Ok(())
    }

    async fn asks(&self) -> Result<(), String> {
        *lock(&self.0.asked) += 1;
        lock(&self.0.hangs).clone().map_or(Ok(()), Err)
    }

    async fn changes(&self, _: Uuid, after: i64) -> Result<Option<Changes>, String> {
        Ok((after >= 3).then(|| the_changes(after)))
    }

    async fn changes_beside(&self, after: i64) -> Result<Option<Changes>, String> {
        Ok(Some(the_changes(after)))
    }

    async fn copy(&self, table: Table, after: Option<Value>) -> Result<Copied, String> {
        let first = table == Table::Messages && after.is_none();
        Ok(Copied {
            rows: if first { vec![a_row()] } else { vec![] },
            next: first.then_some(Value::Integer(4)),
        })
    }

    async fn hand_in(&self, handed: HandIn) -> Result<TakenIn, String> {
        let taken = (handed.messages.len() + handed.ended.len() + handed.news.len()) as u64;
        lock(&self.0.handed_in).extend(handed.messages);
        Ok(TakenIn {
            taken,
            ..TakenIn::default()
        })
    }

    async fn step_down(&self) -> Result<Node, String> {
        Err("attempts do not end".into())
    }

    async fn take_over(&self, why: Option<Relief>) -> Result<Node, String> {
        match why {
            None => Ok(self.0.node.clone()),
            Some(why) => Err(why.as_str().into()),
        }
    }

    async fn promise(&self, turn: Rank, lease: Duration) -> Result<Duration, String> {
        match turn.0 {
            1 => Ok(lease / 2),
            _ => Err("it does not follow this turn".into()),
        }
    }

    async fn send(&self, message: SendAsked) -> Result<SendAnswered, NotSent> {
        let answer = match message.target.as_str() {
            "never answers" => std::future::pending().await,
            "nobody is active" => return Err(NotSent::NotTaken(message.target)),
            "the disk failed" => return Err(NotSent::Unknown(message.target)),
            "another's id" => SendAnswered::Refused(SendRefused::Conflict("taken".into())),
            "full" => SendAnswered::Refused(SendRefused::NoRoom("no room".into())),
            "wrong" => {
                let bad = FieldError::new("retryInterval", "is too short");
                SendAnswered::Refused(SendRefused::Invalid(vec![bad]))
            }
            _ => SendAnswered::Taken(a_taken()),
        };
        lock(&self.0.sent).push(message);
        Ok(answer)
    }
}

pub struct World {
    pub machine: Arc<Machine>,
    address: Address,
    stop: CancellationToken,
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

pub fn world() -> World {
    let machine = Machine::new();
    let listener = peer::listen(SocketAddr::from(([127, 0, 0, 1], 0)), false, false).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap())
        .parse()
        .unwrap();
    let (stop, key) = (CancellationToken::new(), SecretString::from(KEY));
    let incoming = server::tcp(listener, None).unwrap();
    let host = Arc::new(Host(machine.clone()));
    tokio::spawn(peer::serve(
        incoming,
        SiteId::new("north"),
        key,
        host,
        stop.clone(),
    ));
    World {
        machine,
        address,
        stop,
    }
}

impl World {
    pub async fn enter(
        &self,
        site: &str,
        key: &str,
        about: About,
        node: Node,
    ) -> Result<PeerSession, String> {
        let options = PeerOptions::new(SiteId::new(site), SecretString::from(key), self.address.clone());
        peer::connect(&options, about, node).await
    }
}

pub fn about() -> About {
    About {
        name: "north-b".into(),
        version: "1.0".into(),
        schema: 5,
        targets: BTreeMap::new(),
    }
}

#[tokio::test]
async fn what_one_says_is_what_the_other_hears() {
    let world = world();
    let mut session = world
        .enter("north", KEY, about(), a_node(Role::Standby))
        .await
        .unwrap();
    assert_eq!(session.node, world.machine.node);
    assert_eq!(session.about, Host(world.machine.clone()).about());
    assert_eq!(lock(&world.machine.met).as_slice(), [about()]);
    let looked = testkit::eventually("a look to be answered", async || session.look().await.ok());
    assert_eq!(looked.await, world.machine.node);
    assert_eq!(session.changes(4).await.unwrap(), Some(the_changes(4)));
    assert_eq!(
        session.changes(2).await.unwrap(),
        None,
        "the log does not go back so far"
    );
    assert_eq!(
        session.changes_beside(2).await.unwrap(),
        Some(the_changes(2)),
        "asked as what it is"
    );
    let part = session.copy(Table::Messages, None).await.unwrap();
    assert_eq!(
        (part.rows, part.next.clone()),
        (vec![a_row()], Some(Value::Integer(4)))
    );
    let rest = session.copy(Table::Messages, part.next).await.unwrap();
    assert_eq!(rest, Copied::default());
    let handed = HandIn {
        messages: vec![a_row()],
        ended: vec![a_row()],
        news: vec![a_row()],
    };
    let handed_in = session.hand_in(handed).await;
    assert_eq!(handed_in.unwrap().taken, 3);
    assert_eq!(lock(&world.machine.handed_in).as_slice(), [a_row()]);
    assert_eq!(session.step_down().await.unwrap_err(), "attempts do not end");
    assert_eq!(session.take_over(None).await.unwrap(), world.machine.node);
    for why in [Relief::NoRoom, Relief::NoCentral] {
        assert_eq!(session.take_over(Some(why)).await.unwrap_err(), why.as_str());
    }
    let mut promised = async |turn: u64| {
        let (turn, lease) = ((turn, Uuid::new_v4()), Duration::from_secs(4));
        let asked = async || session.promise(turn, lease).await.ok();
        testkit::eventually("a question for the lease to be answered", asked).await
    };
    assert_eq!(promised(1).await, Ok(Duration::from_secs(2)));
    assert_eq!(promised(2).await, Err("it does not follow this turn".into()));
}

#[tokio::test]
async fn a_machine_with_another_key_is_not_let_in_and_not_believed() {
    let world = world();
    let refused = world
        .enter("north", "wps_of_south", about(), a_node(Role::Standby))
        .await
        .unwrap_err();
    assert!(
        refused.ends_with("it does not have the key of this site"),
        "{refused}"
    );
    assert!(lock(&world.machine.met).is_empty());
}

#[tokio::test]
async fn a_machine_of_another_site_is_told_so() {
    let world = world();
    let refused = world
        .enter("south", KEY, about(), a_node(Role::Standby))
        .await
        .unwrap_err();
    assert!(refused.ends_with("this is site north"), "{refused}");
}

#[tokio::test]
async fn a_machine_does_not_take_itself_for_the_other() {
    let world = world();
    let refused = world
        .enter("north", KEY, about(), world.machine.node.clone())
        .await
        .unwrap_err();
    assert!(refused.contains("it is this machine"), "{refused}");
}

#[tokio::test]
async fn an_older_machine_is_told_to_be_updated() {
    let world = world();
    let old = About { schema: 4, ..about() };
    let refused = world
        .enter("north", KEY, old, a_node(Role::Standby))
        .await
        .unwrap_err();
    assert!(refused.ends_with("update the standby first"), "{refused}");
}

#[test]
fn other_machines_are_listened_to_only_over_tls() {
    let open = SocketAddr::from(([0, 0, 0, 0], 0));
    let refused = peer::listen(open, false, false).unwrap_err().to_string();
    assert!(refused.contains("site.replication.tls_cert_file"), "{refused}");
    assert!(peer::listen(open, true, false).is_ok());
}

fn a_taken() -> SendTaken {
    SendTaken {
        accepted: true,
        was_buffered: true,
        duplicate: true,
        status: Some(OperationStatus::Retrying),
        replicated: Some(false),
        result: Some("{\"order\":7}".into()),
        error: Some(FarEndRefusal {
            code: "HTTP_503".into(),
            detail: "busy".into(),
            http_status: Some(503),
        }),
    }
}

pub fn a_message(target: &str) -> SendAsked {
    SendAsked {
        id: Uuid::now_v7(),
        category: Category::CachedDbWrite,
        target: target.into(),
        payload: "{\"statement\":\"x\"}".into(),
        summary: Some("x".into()),
        instance: Some("tank-4".into()),
        script: None,
        execution: Some("e".into()),
        parent_execution: None,
        max_retries: Some(0),
        retry_interval: Some(Duration::from_millis(1_500)),
        immediate: true,
        trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            .parse()
            .ok(),
    }
}

#[tokio::test]
async fn a_message_that_is_passed_on_arrives_as_it_was_and_what_became_of_it_comes_back() {
    const LIMIT: Duration = Duration::from_secs(30);
    let world = world();
    let mut session = world
        .enter("north", KEY, about(), a_node(Role::Standby))
        .await
        .unwrap();
    let message = a_message("history");
    assert!(message.trace.is_some());
    let answered = session.send(message.clone(), LIMIT).await;
    assert_eq!(answered, Ok(SendAnswered::Taken(a_taken())));
    assert_eq!(*lock(&world.machine.sent), [message]);
    let refused = |refused| Ok(SendAnswered::Refused(refused));
    let bad = FieldError::new("retryInterval", "is too short");
    for (target, answer) in [
        ("another's id", refused(SendRefused::Conflict("taken".into()))),
        ("full", refused(SendRefused::NoRoom("no room".into()))),
        ("wrong", refused(SendRefused::Invalid(vec![bad]))),
        (
            "nobody is active",
            Err(NotSent::NotTaken("nobody is active".into())),
        ),
        ("the disk failed", Err(NotSent::Unknown("the disk failed".into()))),
    ] {
        assert_eq!(session.send(a_message(target), LIMIT).await, answer, "{target}");
    }
    let unanswered = session
        .send(a_message("never answers"), Duration::from_millis(1))
        .await;
    assert!(matches!(unanswered, Err(NotSent::Unknown(_))), "{unanswered:?}");
}
