//! A part of a JSON document as it was written: a number that goes through a parser may come out as another text.

/// The value of a member of the outermost object, as it stands in the text; the last one of that name. The text must be a
/// JSON object that a parser has taken.
pub fn member<'j>(json: &'j str, name: &str) -> Option<&'j str> {
    let bytes = json.as_bytes();
    let mut at = json.find('{')? + 1;
    let mut found = None;
    loop {
        at = space(bytes, at);
        if bytes.get(at) != Some(&b'"') {
            return found;
        }
        let key_end = value(bytes, at);
        let key: Option<String> = json
            .get(at..key_end)
            .and_then(|key| serde_json::from_str(key).ok());
        // The colon.
        at = space(bytes, key_end) + 1;
        at = space(bytes, at);
        let end = value(bytes, at);
        if key.as_deref() == Some(name) {
            found = json.get(at..end).map(str::trim_end);
        }
        at = space(bytes, end);
        if bytes.get(at) != Some(&b',') {
            return found;
        }
        at += 1;
    }
}

fn space(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|b| b.is_ascii_whitespace()).count()
}

/// Where the value that begins here ends.
fn value(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while bytes.get(at).is_some_and(|b| *b != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                if depth == 0 {
                    return at + 1;
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b',' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_found_as_it_was_written() {
        let json = r#" {"a": {"payload": 1}, "payload" : {"price": 1.10, "s": "}\"]{"} , "b": [1, {"c": 2}], "n": 1e2}"#;
        assert_eq!(member(json, "payload"), Some(r#"{"price": 1.10, "s": "}\"]{"}"#));
        assert_eq!(member(json, "b"), Some(r#"[1, {"c": 2}]"#));
        assert_eq!(member(json, "n"), Some("1e2"));
        assert_eq!(member(json, "price"), None);
        assert_eq!(member("{}", "payload"), None);
        assert_eq!(
            member(r#"{"payload":1,"payload":{"x":2}}"#, "payload"),
            Some(r#"{"x":2}"#)
        );
        assert_eq!(member(r#"{"p\u0061yload":[]}"#, "payload"), Some("[]"));
    }
}
