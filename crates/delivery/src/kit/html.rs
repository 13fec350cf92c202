//! Reads HTML as mails carry it: text, tags and links. Nothing is too broken to be read as text.

/// What HTML is made of, as far as anybody is told of it.
pub(super) enum Piece<'a> {
    Text(&'a str),
    Open { name: &'a str, href: Option<String> },
    Close(&'a str),
}

/// Names of elements whose text is not for readers.
const UNSEEN: [&str; 4] = ["script", "style", "head", "title"];

/// Tells piece after piece until `take` has enough. Answers whether that was all of them.
pub(super) fn read(html: &str, take: &mut dyn FnMut(Piece<'_>) -> bool) -> bool {
    let (mut rest, mut unseen) = (html, None::<String>);
    while !rest.is_empty() {
        let (text, tag) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        if unseen.is_none() && !text.is_empty() && !take(Piece::Text(text)) {
            return false;
        }
        if tag.starts_with("<!--") {
            rest = tag.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let Some((inside, after)) = tag.get(1..).and_then(|tag| tag.split_once('>')) else {
            // An angle that opens nothing.
            return tag.is_empty() || unseen.is_some() || take(Piece::Text(tag));
        };
        rest = after;
        let closes = inside.starts_with('/');
        let name = inside.trim_start_matches('/');
        let end = name
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(name.len());
        let (name, attributes) = name.split_at(end);
        let name = name.to_ascii_lowercase();
        match &unseen {
            Some(until) if closes && *until == name => unseen = None,
            Some(_) => {}
            None if !closes && UNSEEN.contains(&name.as_str()) => unseen = Some(name),
            None => {
                let href = if name == "a" { address(attributes) } else { None };
                let piece = match closes {
                    true => Piece::Close(&name),
                    false => Piece::Open { name: &name, href },
                };
                if !take(piece) {
                    return false;
                }
            }
        }
    }
    true
}

/// Where a link goes; none where it is nothing to follow from a chat.
fn address(attributes: &str) -> Option<String> {
    let at = attributes.to_ascii_lowercase().find("href=")?;
    let value = attributes[at + 5..].trim_start();
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next()?,
        _ => value.split_whitespace().next()?,
    };
    let url = decoded(value).trim().to_owned();
    let sound = ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| url.starts_with(scheme));
    let plain = !url.contains(|c: char| c.is_whitespace() || c.is_control() || "<>\"|\\".contains(c));
    (sound && plain).then(|| url.replace('(', "%28").replace(')', "%29"))
}

/// From `&` to `;`, as `&#x10FFFF;`.
const LONGEST_ENTITY: usize = 12;

/// Text without its entities; what is none stays.
pub(super) fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        // Names are short: a text full of `&` is not searched to its end for each of them.
        let end = rest.bytes().take(LONGEST_ENTITY).position(|byte| byte == b';');
        let name = end.map(|end| &rest[1..end]);
        match name.and_then(|name| Some((name, named(name)?))) {
            Some((name, c)) => {
                out.push(c);
                rest = &rest[name.len() + 2..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

fn named(entity: &str) -> Option<char> {
    Some(match entity {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?).filter(|c| !c.is_control() || *c == '\n')?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_become_what_they_stand_for_and_a_text_full_of_ampersands_stays() {
        let text = "a &amp; b &#x10FFFD;&lt;&nope; &toolongtobeanentity; &";
        assert_eq!(decoded(text), "a & b \u{10FFFD}<&nope; &toolongtobeanentity; &");
        // Read once, not once for each: this would not end otherwise.
        let many = "&".repeat(1 << 20);
        assert_eq!(decoded(&many), many);
    }
}
