//! Requests over a plain socket: whole answers as text, and nothing between the test and the server.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

/// Asks and answers with head and body. `headers` are whole lines.
pub fn ask(url: &str, method: &str, path: &str, headers: &str, body: &str) -> String {
    let address = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.0\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n{headers}\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
