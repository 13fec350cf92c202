//! JSON in the one form that RFC 8785 (JSON Canonicalization Scheme) gives it, so that equal values have equal hashes.
//!
//! Always true: members are sorted by the UTF-16 units of their names, numbers are written as ECMAScript writes them, and no
//! white space is left.

use serde_json::Value;
use std::fmt::Write;

pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, to: &mut String) {
    match value {
        Value::Null => to.push_str("null"),
        Value::Bool(yes) => to.push_str(if *yes { "true" } else { "false" }),
        // All numbers are doubles there; a whole one beyond 2^53 is rounded like any other.
        Value::Number(number) => to.push_str(&ecmascript(number.as_f64().unwrap_or_default())),
        // The escapes of `serde_json` are those that the scheme asks for.
        Value::String(text) => to.push_str(&Value::from(text.as_str()).to_string()),
        Value::Array(items) => {
            to.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    to.push(',');
                }
                write(item, to);
            }
            to.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            to.push('{');
            for (i, (name, member)) in sorted.into_iter().enumerate() {
                if i > 0 {
                    to.push(',');
                }
                to.push_str(&Value::from(name.as_str()).to_string());
                to.push(':');
                write(member, to);
            }
            to.push('}');
        }
    }
}

/// `Number::toString` of ECMAScript, for finite numbers: the fewest digits that read back as the same double, and an exponent
/// only below 1e-6 and from 1e21 on.
fn ecmascript(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    // `d.ddde±x`, with those fewest digits.
    let scientific = format!("{:e}", number.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = even(mantissa.replace('.', ""), number.abs());
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    // Where the point stands, counted from the first digit.
    let point = exponent.parse::<i32>().unwrap_or_default() + 1;
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or_default());
    let split = |at: i32| digits.split_at(usize::try_from(at).unwrap_or_default().min(digits.len()));
    match point {
        22.. | ..=-6 => {
            let (first, rest) = split(1);
            let mut text = format!("{sign}{first}");
            if !rest.is_empty() {
                let _ = write!(text, ".{rest}");
            }
            let _ = write!(text, "e{:+}", point - 1);
            text
        }
        point if point >= count => format!("{sign}{digits}{}", zeros(point - count)),
        point if point > 0 => {
            let (whole, rest) = split(point);
            format!("{sign}{whole}.{rest}")
        }
        point => format!("{sign}0.{}{digits}", zeros(-point)),
    }
}

/// Where two shortest ways to write a number are equally near, the one that ends in an even digit.
fn even(digits: String, number: f64) -> String {
    let Some((rest, last)) = digits.split_at_checked(digits.len() - 1) else {
        return digits;
    };
    let Some(lower) = last.parse::<u8>().ok().filter(|last| last % 2 == 1) else {
        return digits;
    };
    let lower = format!("{rest}{}", lower - 1);
    // Exact, so that nothing but zeros behind a 5 means half way.
    let exact = format!("{number:.40e}").replace('.', "");
    let behind = exact
        .strip_prefix(&lower)
        .and_then(|behind| behind.strip_prefix('5'));
    let half_way = behind.and_then(|behind| behind.split_once('e'));
    match half_way.is_some_and(|(zeros, _)| zeros.bytes().all(|b| b == b'0')) {
        true => lower,
        false => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_written_as_the_samples_of_the_rfc_have_them() {
        // RFC 8785, appendix B.
        for (bits, written) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            assert_eq!(ecmascript(f64::from_bits(bits)), written, "{bits:x}");
        }
    }

    #[test]
    fn members_are_sorted_by_their_utf_16_units_and_texts_are_escaped_as_the_rfc_shows() {
        // RFC 8785, sections 3.2.2 and 3.2.3.
        let value = json!({
            "numbers": [333_333_333.333_333_3, 1e30, 4.50, 2e-3, 1e-27],
            "string": "\u{20ac}$\u{f}\nA'B\"\\\\\"/",
            "literals": [null, true, false],
        });
        assert_eq!(
            canonical(&value),
            r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#
        );
        let value =
            json!({"\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7});
        let order: Vec<char> = canonical(&value).chars().filter(char::is_ascii_digit).collect();
        // \r 2, "1" and its 4, \u0080 6, ö 7, € 1, 😀 5, דּ 3.
        assert_eq!(order.into_iter().collect::<String>(), "21467153");
    }
}
