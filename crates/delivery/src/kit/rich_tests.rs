use super::*;

const ALL: [Markup; 4] = [Markup::Html, Markup::Discord, Markup::Slack, Markup::Teams];

fn whole(html: &str, markup: Markup) -> String {
    rich(html, 10_000, Unit::Chars, markup).unwrap_or_default()
}

#[test]
fn what_a_service_can_show_is_shown_and_of_the_rest_the_text() {
    let html = "<style>p {}</style><p>Dear <strong>Ann &amp; Co</strong>,</p><p>see <em>you</em> on\n  <a href=\"https://a.example/?x=1&amp;y=2\">the \
                page</a><br>at 5*</p><ul><li>one</li><li><i></i>two</li></ul><ol><li>first</li><li>second</li></ol><!-- no --><font color=red>end</font>";
    for (markup, shown) in [
        (
            Markup::Html,
            "Dear <b>Ann &amp; Co</b>,\n\nsee <i>you</i> on <a href=\"https://a.example/?x=1&amp;y=2\">the page</a>\nat 5*\n\n• one\n• two\n1. first\n2. second\nend",
        ),
        (
            Markup::Discord,
            "Dear **Ann & Co**,\n\nsee _you_ on [the page](https://a.example/?x=1&y=2)\nat 5\\*\n\n• one\n• two\n1. first\n2. second\nend",
        ),
        (
            Markup::Slack,
            "Dear *Ann &amp; Co*,\n\nsee _you_ on <https://a.example/?x=1&amp;y=2|the page>\nat 5*\n\n• one\n• two\n1. first\n2. second\nend",
        ),
        (
            Markup::Teams,
            "Dear **Ann & Co**,\n\nsee _you_ on [the page](https://a.example/?x=1&y=2)\nat 5\\*\n\n• one\n• two\n1. first\n2. second\nend",
        ),
    ] {
        assert_eq!(whole(html, markup), shown, "{markup:?}");
    }
}

#[test]
fn nothing_but_an_address_to_follow_becomes_a_link() {
    for href in [
        "javascript:alert(1)",
        "\"https://a.example/\"><script>",
        "/local",
        "https://a.example/<b>",
        "",
    ] {
        let html = format!("<a href='{href}'>x</a>");
        for markup in ALL {
            let shown = whole(&html, markup);
            assert!(
                !shown.contains("script") && !shown.contains("](") && !shown.contains("href"),
                "{shown}"
            );
        }
    }
    let shown = whole("&lt;!everyone&gt; &lt;b&gt;", Markup::Slack);
    assert_eq!(shown, "&lt;!everyone&gt; &lt;b&gt;");
}

#[test]
fn broken_html_still_says_what_it_says() {
    for (html, shown) in [
        ("a < b", "a &lt; b"),
        ("<b>a", "<b>a</b>"),
        ("a</b>", "a"),
        ("<b>a<i>b</b>c</i>", "<b>a<i>b</i></b>c"),
        ("&nosuch; &", "&amp;nosuch; &amp;"),
        ("<b> a </b>b", "<b>a</b> b"),
        ("日本語", "日本語"),
    ] {
        assert_eq!(whole(html, Markup::Html), shown, "{html}");
    }
    assert_eq!(
        rich("<p> </p><script>x</script>", 99, Unit::Chars, Markup::Html),
        None
    );
}

#[test]
fn what_is_cut_is_closed_and_says_so_and_fits() {
    let inner = "<b>Dear <i>Ann</i></b> <a href=\"https://a.example/\">here &amp; there</a>日本語日本語<p>"
        .repeat(200);
    for markup in ALL {
        for limit in 40..400 {
            let cut = rich(&inner, limit, Unit::Chars, markup).unwrap_or_default();
            assert!(cut.chars().count() <= limit, "{markup:?} {limit}: {cut}");
            if markup == Markup::Html {
                for tag in ["b", "i", "a"] {
                    let opened =
                        cut.matches(&format!("<{tag}>")).count() + cut.matches(&format!("<{tag} ")).count();
                    assert_eq!(
                        opened,
                        cut.matches(&format!("</{tag}>")).count(),
                        "{limit}: {cut}"
                    );
                }
            }
            if limit > 120 {
                assert!(cut.contains("cut: too long"), "{markup:?} {limit}: {cut}");
            }
        }
    }
}
