//! A file that was written over in place by a copy of earlier, with the log of its last process still beside it.

use crate::harness::*;
use domain::site::Category;
use std::{fs, os::unix::fs::MetadataExt, path::PathBuf};
use store::buffer::NewMessage;

fn part(place: &Place, suffix: &str) -> PathBuf {
    place.folder.path().join(format!("sf.db{suffix}"))
}

/// The file, its log and what was noted of them, as a kill leaves them.
struct Left {
    file: Vec<u8>,
    log: Vec<u8>,
    note: String,
}

impl Left {
    fn of(place: &Place) -> Self {
        Self {
            file: fs::read(place.file()).unwrap(),
            log: fs::read(part(place, "-wal")).unwrap(),
            note: fs::read_to_string(part(place, ".lock")).unwrap(),
        }
    }

    /// Puts them there again. The log is a new file by now: what was noted of it is put right.
    fn put_back(&self, place: &Place) {
        fs::write(place.file(), &self.file).unwrap();
        fs::write(part(place, "-wal"), &self.log).unwrap();
        let log = fs::metadata(part(place, "-wal")).unwrap();
        let log = format!("{}:{}", log.dev(), log.ino());
        let mut words: Vec<_> = self.note.split(' ').collect();
        words[1] = &log;
        fs::write(part(place, ".lock"), words.join(" ")).unwrap();
    }
}

fn large() -> NewMessage {
    NewMessage {
        payload: format!("{{\"text\":\"{}\"}}", "x".repeat(200_000)),
        ..a_message(Category::Notification, "ops")
    }
}

#[tokio::test]
async fn what_a_kill_left_is_gone_on_with_as_it_is() {
    let place = Place::new();
    let buffer = place.open();
    put(&buffer, a_message(Category::Notification, "ops")).await;
    for _ in 0..30 {
        put(&buffer, large()).await;
    }
    let left = Left::of(&place);
    buffer.close().await;
    drop(buffer);
    left.put_back(&place);
    let buffer = place.open();
    assert_eq!((buffer.set_aside(), buffer.depth().waiting()), (None, 31));
}

#[tokio::test]
async fn a_copy_of_an_earlier_start_in_place_of_the_file_is_not_mixed_with_the_log() {
    let place = Place::new();
    let buffer = place.open();
    put(&buffer, a_message(Category::Notification, "ops")).await;
    buffer.close().await;
    drop(buffer);
    let backup = fs::read(place.file()).unwrap();
    let buffer = place.open();
    for _ in 0..50 {
        put(&buffer, a_message(Category::Notification, "ops")).await;
    }
    let left = Left::of(&place);
    buffer.close().await;
    drop(buffer);
    left.put_back(&place);
    fs::write(place.file(), backup).unwrap();
    let buffer = place.open();
    let aside = buffer.set_aside().expect("the log is not its own");
    assert_eq!(fs::read(format!("{}-wal", aside.display())).unwrap(), left.log);
    assert_eq!(
        buffer.depth().waiting(),
        51,
        "what was in the log came back all the same"
    );
    assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
}

#[tokio::test]
async fn a_copy_of_the_same_start_from_before_the_log_was_moved_is_not_mixed_with_it_either() {
    let place = Place::new();
    let buffer = place.open();
    put(&buffer, a_message(Category::Notification, "ops")).await;
    let backup = fs::read(place.file()).unwrap();
    // More than the log is let grow to.
    for _ in 0..30 {
        put(&buffer, large()).await;
    }
    let left = Left::of(&place);
    buffer.close().await;
    drop(buffer);
    left.put_back(&place);
    fs::write(place.file(), backup).unwrap();
    let buffer = place.open();
    assert!(buffer.set_aside().is_some(), "the log is not its own");
    put(&buffer, a_message(Category::Notification, "ops")).await;
}

#[tokio::test]
async fn a_file_and_its_log_that_were_put_back_together_are_gone_on_with() {
    let place = Place::new();
    let buffer = place.open();
    put(&buffer, a_message(Category::Notification, "ops")).await;
    let earlier = Left::of(&place);
    buffer.close().await;
    drop(buffer);
    let buffer = place.open();
    put(&buffer, a_message(Category::Notification, "ops")).await;
    let left = Left::of(&place);
    buffer.close().await;
    drop(buffer);
    left.put_back(&place);
    fs::write(place.file(), &earlier.file).unwrap();
    fs::write(part(&place, "-wal"), &earlier.log).unwrap();
    let buffer = place.open();
    assert_eq!((buffer.set_aside(), buffer.depth().waiting()), (None, 1));
}
