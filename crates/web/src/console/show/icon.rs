//! Little drawings, sixteen by sixteen. Beside a word, never instead of one.

use askama::filters::HtmlSafe;
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icon {
    Circle,
    Turn,
    Tick,
    Pause,
    Cross,
    Arrow,
    Hand,
    Clock,
    Warning,
    Flow,
    Dot,
}

impl Icon {
    fn path(self) -> &'static str {
        match self {
            Icon::Circle => "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11z",
            Icon::Turn => "M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3",
            Icon::Tick => "M3 8.5l3.2 3.2L13 4.8",
            Icon::Pause => "M5.5 3.5v9M10.5 3.5v9",
            Icon::Cross => "M4 4l8 8M12 4l-8 8",
            Icon::Arrow => "M2.5 8h10M9 4.5L12.5 8 9 11.5",
            Icon::Hand => "M3 3h10v10H3z",
            Icon::Clock => "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM8 5v3.2l2.2 1.6",
            Icon::Warning => "M8 2.2l6.2 11H1.8zM8 6.4v3.2M8 11.4v.2",
            Icon::Flow => "M2 6c2-2 4-2 6 0s4 2 6 0M2 11c2-2 4-2 6 0s4 2 6 0",
            Icon::Dot => "M8 6.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z",
        }
    }
}

impl HtmlSafe for Icon {}

impl fmt::Display for Icon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "<svg class=\"icon\" viewBox=\"0 0 16 16\" width=\"16\" height=\"16\" aria-hidden=\"true\" focusable=\"false\">\
             <path d=\"{}\"/></svg>",
            self.path()
        )
    }
}
