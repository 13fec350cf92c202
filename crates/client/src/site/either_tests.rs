use super::*;

fn site() -> Site {
    let at = |url| Site::from(Client::new(url, "").unwrap());
    at("http://127.0.0.1:1").or(at("http://127.0.0.1:2"))
}

fn answered(code: &str) -> Error {
    Error::Server {
        status: 503,
        code: code.into(),
        detail: String::new(),
        retry_after: None,
    }
}

#[tokio::test]
async fn a_standby_is_passed_over_and_the_other_is_asked_first_from_then_on() {
    let site = site();
    let asked = std::sync::Mutex::new(vec![]);
    for _ in 0..2 {
        let done = site.on_either(Repeat::Never, |client: Client| {
            asked.lock().unwrap().push(client.url().to_owned());
            async move {
                match client.url().contains(":1") {
                    true => Err(answered("standby")),
                    false => Ok(()),
                }
            }
        });
        done.await.unwrap();
    }
    let (one, two) = ("http://127.0.0.1:1/", "http://127.0.0.1:2/");
    assert_eq!(*asked.lock().unwrap(), [one, two, two]);
}

#[tokio::test]
async fn where_one_machine_cannot_say_the_other_is_asked_and_the_better_answer_counts() {
    type Answer = fn() -> Result<&'static str>;
    let (standby, gone, unknown, known): (Answer, Answer, Answer, Answer) = (
        || Err(answered("standby")),
        || Err(Error::NotFound { detail: "it".into() }),
        || Ok("Unknown"),
        || Ok("Delivered"),
    );
    for (first, second, said) in [
        (standby, known, Some("Delivered")),
        (unknown, known, Some("Delivered")),
        (unknown, standby, Some("Unknown")),
        (standby, unknown, Some("Unknown")),
        (standby, standby, None),
        // Who can ask central and says that it is nowhere is believed.
        (gone, known, None),
    ] {
        let ask = |client: Client| {
            let answer = match client.url().contains(":1/") {
                true => first(),
                false => second(),
            };
            async move { answer }
        };
        let found = site().of_either(|found| *found != "Unknown", ask).await;
        assert_eq!(found.ok(), said);
    }
}

#[tokio::test]
async fn what_may_have_been_taken_goes_to_the_other_only_where_a_repeat_is_harmless() {
    for (repeat, times) in [(Repeat::Never, 1), (Repeat::Harmless, 2)] {
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let done = site()
            .on_either(repeat, |_| {
                asked.fetch_add(1, Ordering::SeqCst);
                async { Err::<(), _>(answered("unavailable")) }
            })
            .await;
        assert!(done.is_err());
        assert_eq!(asked.load(Ordering::SeqCst), times, "{repeat:?}");
    }
}
