use super::*;
use crate::{Again, Error};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Reads one request and answers its body.
async fn request(stream: &mut TcpStream) -> serde_json::Value {
    let mut read = Vec::new();
    loop {
        let mut chunk = [0; 1024];
        let n = stream.read(&mut chunk).await.unwrap();
        read.extend_from_slice(&chunk[..n]);
        let text = String::from_utf8_lossy(&read);
        if let Some((_, body)) = text.split_once("\r\n\r\n")
            && let Ok(body) = serde_json::from_str(body)
        {
            return body;
        }
        assert_ne!(n, 0, "the request broke off");
    }
}

#[tokio::test]
async fn a_lost_answer_and_a_busy_central_are_asked_again_under_the_same_id() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let far_end = tokio::spawn(async move {
        let mut ids = vec![];
        for answer in [
            "",
            "HTTP/1.1 503 x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            "accept",
        ] {
            let (mut stream, _) = listener.accept().await.unwrap();
            let id = request(&mut stream).await["notificationId"]
                .as_str()
                .unwrap()
                .to_owned();
            let body = format!(r#"{{"notificationId":"{id}","status":"Pending","duplicate":true}}"#);
            let full = match answer {
                "accept" => format!("HTTP/1.1 202 x\r\ncontent-length: {}\r\n\r\n{body}", body.len()),
                other => other.to_owned(),
            };
            stream.write_all(full.as_bytes()).await.unwrap();
            ids.push(id);
        }
        ids
    });
    let client = Client::builder(&url).retrying(Again::at_once(5)).build().unwrap();
    let accepted = client
        .submit(&Notification::to_list("ops").body("x"))
        .await
        .unwrap();
    let ids = far_end.await.unwrap();
    assert_eq!(ids.len(), 3);
    assert!(ids.iter().all(|id| *id == accepted.notification_id.to_string()));
}

#[test]
fn every_request_can_be_made_from_a_spawned_task() {
    fn sendable<T: Send>(_: T) {}
    let client = Client::new("http://127.0.0.1:1", "k").unwrap();
    sendable(async move {
        let _ = client.submit(&Notification::to_list("ops")).await;
        let _ = client.submit_batch(&[]).await;
        let _ = client.stream().await;
        let _ = client.kpis().await;
    });
}

#[tokio::test]
async fn nobody_there_is_unreachable_and_names_the_url_once() {
    let client = Client::builder("http://127.0.0.1:1")
        .retrying(Again::at_once(2))
        .build()
        .unwrap();
    let error = client
        .submit(&Notification::to_list("ops").body("x"))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }));
    assert_eq!(domain::chain(&error).matches("127.0.0.1:1").count(), 1);
}
