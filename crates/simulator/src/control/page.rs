//! The page: what arrived, as bubbles, and a form to make things go wrong.

use super::Arrival;
use crate::{receipts::TELLING, services::NAMES};
use serde_json::Value;
use std::fmt::Write;

const STYLE: &str = "
body { font: 16px/1.45 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1rem; color: #1c1c1e; background: #f2f2f7; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; }
form { background: #fff; border-radius: 12px; padding: .8rem; display: flex; flex-wrap: wrap; gap: .6rem; align-items: end; }
label { display: grid; font-size: .85rem; } input, select, button { font: inherit; padding: .35rem .5rem; min-height: 2.75rem; box-sizing: border-box; }
input[type=number] { width: 6.5rem; }
.bare { display: inline; padding: 0; background: none; }
ol { list-style: none; padding: 0; }
li { background: #fff; border-radius: 16px 16px 16px 4px; padding: .6rem .9rem; margin: .6rem 0; max-width: 34rem; overflow-wrap: anywhere; }
li.refused { background: #ffe5e5; }
.from { color: #5a5a60; font-size: .85rem; } .text { white-space: pre-wrap; }
@media (prefers-color-scheme: dark) { body { background: #000; color: #f2f2f7; } li, form { background: #1c1c1e; } li.refused { background: #4a1414; } .from { color: #b0b0b8; } }
";

fn head(more: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Waypost simulator</title><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">{more}<style>{STYLE}</style></head><body>"
    )
}

/// What arrived, kept fresh.
pub(super) fn render(arrivals: &[Arrival], faults: &[Value], receipts: &Value) -> String {
    let mut page = head("<meta http-equiv=\"refresh\" content=\"5\">");
    page.push_str("<h1>What arrived</h1><p><a href=\"/simulator/dial\">Make something go wrong, or tell what became of it</a></p>");
    if !faults.is_empty() {
        page.push_str("<h2>Faults in force</h2><ul>");
        for fault in faults {
            let _ = write!(page, "<li><code>{}</code></li>", escaped(&fault.to_string()));
        }
        page.push_str("</ul><form class=\"bare\" method=\"post\" action=\"/simulator/behave\"><button>Behave from now on</button></form>");
    }
    if receipts["taken"] != 0 || receipts["refused"] != 0 || !receipts["plan"].is_null() {
        let _ = write!(
            page,
            "<h2>Receipts</h2><p><code>{}</code></p>",
            escaped(&receipts.to_string())
        );
        page.push_str("<form class=\"bare\" method=\"post\" action=\"/simulator/receipts/end\"><button>Tell nothing more</button></form>");
    }
    if arrivals.is_empty() {
        page.push_str("<p>Nothing yet.</p>");
    } else {
        page.push_str("<ol>");
        for one in arrivals {
            bubble(&mut page, one);
        }
        page.push_str("</ol><form class=\"bare\" method=\"post\" action=\"/simulator/forget\"><button>Forget it</button></form>");
    }
    page.push_str("</body></html>");
    page
}

/// The form for a fault; it is not refreshed while somebody fills it in.
pub(super) fn render_dial() -> String {
    let mut page = head("");
    page.push_str("<p><a href=\"/simulator\">What arrived</a></p><h1>Make something go wrong</h1>");
    fault_form(&mut page);
    page.push_str("<h1>Tell what became of it</h1>");
    receipt_form(&mut page);
    page.push_str("</body></html>");
    page
}

fn fault_form(page: &mut String) {
    page.push_str("<form method=\"post\" action=\"/simulator/faults\"><label>Where<select name=\"service\"><option value=\"\">everything by HTTP</option><option>smtp</option><option>webhook</option>");
    for name in NAMES {
        let _ = write!(page, "<option>{name}</option>");
    }
    page.push_str("</select></label>");
    for (label, name, of) in [
        ("Status", "status", "number"),
        ("Retry-After, s", "retryAfter", "number"),
        ("SMTP reply", "reply", "text"),
        ("Delay, ms", "delayMs", "number"),
        ("Rate, per s", "rate", "text"),
        ("Chance, 0 to 1", "chance", "text"),
        ("Times", "times", "number"),
    ] {
        let _ = write!(
            page,
            "<label>{label}<input name=\"{name}\" type=\"{of}\"></label>"
        );
    }
    page.push_str("<label>Cut the connection<input type=\"checkbox\" name=\"cut\" value=\"true\"></label><label>Cut the answer's body<input type=\"checkbox\" name=\"cutBody\" value=\"true\"></label><label>Never answer<input type=\"checkbox\" name=\"stall\" value=\"true\"></label><button>Add</button></form>");
}

fn receipt_form(page: &mut String) {
    page.push_str("<form method=\"post\" action=\"/simulator/receipts\"><label>About<select name=\"service\"><option value=\"\">everything that arrived</option>");
    for name in TELLING {
        let _ = write!(page, "<option>{name}</option>");
    }
    page.push_str("</select></label>");
    for (label, name, of) in [
        ("States, in order", "states", "text"),
        ("Code of a failure", "code", "text"),
        ("Late by, ms", "lateMs", "number"),
        ("Only the last", "last", "number"),
        ("Callback address", "url", "text"),
        ("Secret that signs", "secret", "text"),
    ] {
        let value = if name == "states" {
            " value=\"accepted, delivered, read\""
        } else {
            ""
        };
        let _ = write!(
            page,
            "<label>{label}<input name=\"{name}\" type=\"{of}\"{value}></label>"
        );
    }
    for (label, name) in [
        ("In any order", "shuffled"),
        ("Each two times", "twice"),
        ("And about what arrives from now on", "keep"),
    ] {
        let _ = write!(
            page,
            "<label>{label}<input type=\"checkbox\" name=\"{name}\" value=\"true\"></label>"
        );
    }
    page.push_str("<button>Tell</button></form>");
}

fn bubble(page: &mut String, one: &Arrival) {
    let class = if one.taken { "" } else { " class=\"refused\"" };
    let to = match one.shown.to.is_empty() {
        true => String::new(),
        false => format!(" to {}", escaped(&one.shown.to)),
    };
    let refused = if one.taken { "" } else { ", not taken" };
    let _ = write!(
        page,
        "<li{class}><div class=\"from\">{}{to}, {} s ago{refused}</div>",
        one.shown.service,
        one.ago.as_secs()
    );
    if !one.shown.title.is_empty() {
        let _ = write!(page, "<b>{}</b>", escaped(&one.shown.title));
    }
    let _ = write!(
        page,
        "<div class=\"text\">{}</div></li>",
        escaped(&one.shown.text)
    );
}

/// Text that stays text.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::Shown;

    #[test]
    fn markup_that_arrives_stays_text() {
        let arrival = Arrival {
            shown: Shown {
                service: "slack",
                to: "<i>".into(),
                title: "\"t\"".into(),
                text: "<script>x</script>".into(),
            },
            ago: std::time::Duration::from_secs(1),
            taken: true,
        };
        let page = render(&[arrival], &[serde_json::json!({"service": "<b>"})], &Value::Null);
        assert!(
            !page.contains("<script>x") && !page.contains("<i>") && !page.contains("<b>\"}"),
            "{page}"
        );
        assert!(page.contains("&lt;script&gt;"));
    }
}
