//! Charts as SVG, drawn on the server. Every step says its figure under pointer and finger, also when it is zero, and leads
//! to the list of its time.

use super::number;
use askama::filters::HtmlSafe;
use domain::{Timestamp, Zone};
use std::{
    fmt::{self, Write},
    time::Duration,
};

const WIDTH: usize = 440;
const HEIGHT: usize = 110;
const TOP: usize = 8;
const BOTTOM: usize = 18;

/// Bars over time.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Of our own words.
    pub name: &'static str,
    pub tone: &'static str,
    pub start: Timestamp,
    pub step: Duration,
    pub values: Vec<u64>,
    /// The viewer's, for the axis.
    pub zone: Zone,
    /// The address of the list without the time, as markup; of our own words.
    pub list: &'static str,
}

impl Chart {
    pub fn total(&self) -> u64 {
        self.values.iter().sum()
    }

    fn most(&self) -> u64 {
        nice(self.values.iter().copied().max().unwrap_or(0))
    }

    fn at(&self, place: usize) -> Timestamp {
        self.start + self.step * u32::try_from(place).unwrap_or(u32::MAX)
    }

    /// 13:45, or with longer steps 31 Jan.
    fn label(&self, at: Timestamp) -> String {
        match self.step >= Duration::from_secs(3600) {
            true => self.zone.day(at),
            false => self.zone.clock(at),
        }
    }

    /// One step: its bar, and over its whole height what says the figure and leads to the list. Not a stop for the
    /// keyboard: there are hundreds, and the list has a filter for the time.
    fn step(
        &self,
        f: &mut fmt::Formatter<'_>,
        (place, value): (usize, u64),
        (left, right): (usize, usize),
        (most, plot): (u64, usize),
    ) -> fmt::Result {
        let (from, to) = (self.at(place), self.at(place + 1));
        let said = format!("{}: {}", self.zone.minute(from), number(value));
        write!(
            f,
            "<a href=\"{}from={from}&amp;to={to}\" tabindex=\"-1\" aria-label=\"{said}\" data-value=\"{said}\">\
             <rect class=\"step\" x=\"{left}\" y=\"{TOP}\" width=\"{}\" height=\"{plot}\"><title>{said}</title></rect>",
            self.list,
            (right - left).max(1),
        )?;
        if value > 0 {
            let height = scale(value, most, plot).max(1);
            let gap = usize::from(right - left > 2);
            write!(
                f,
                "<rect class=\"bar-value\" x=\"{left}\" y=\"{}\" width=\"{}\" height=\"{height}\"/>",
                TOP + plot - height,
                (right - left - gap).max(1),
            )?;
        }
        f.write_str("</a>")
    }

    /// What is said of it to those who do not see it.
    fn summary(&self) -> String {
        let most = self.values.iter().copied().max().unwrap_or(0);
        format!(
            "{}: {} in all, at most {} in one step",
            self.name,
            number(self.total()),
            number(most)
        )
    }
}

/// The next of 4, 10, 20, 40, 100 … that holds it: round numbers with a round half.
fn nice(n: u64) -> u64 {
    let mut step = 1u64;
    loop {
        for factor in [2, 4, 10] {
            let bound = step.saturating_mul(factor);
            if bound >= n.max(4) || bound == u64::MAX {
                return bound;
            }
        }
        step = step.saturating_mul(10);
    }
}

impl HtmlSafe for Chart {}

impl fmt::Display for Chart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (most, plot) = (self.most(), HEIGHT - TOP - BOTTOM);
        write!(
            f,
            "<svg class=\"chart chart-{}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"group\" aria-label=\"{}\">",
            self.tone,
            self.summary()
        )?;
        for (share, value) in [(0, most), (1, most / 2), (2, 0)] {
            let y = TOP + plot * share / 2;
            write!(
                f,
                "<line class=\"grid\" x1=\"34\" x2=\"{WIDTH}\" y1=\"{y}\" y2=\"{y}\"/>"
            )?;
            write!(
                f,
                "<text class=\"axis\" x=\"30\" y=\"{}\" text-anchor=\"end\">{}</text>",
                y + 3,
                short(value)
            )?;
        }
        let count = self.values.len().max(1);
        let room = WIDTH - 36;
        for (i, value) in self.values.iter().enumerate() {
            let left = 36 + room * i / count;
            let right = 36 + room * (i + 1) / count;
            self.step(f, (i, *value), (left, right), (most, plot))?;
        }
        let marks = 5;
        for mark in 0..marks {
            let place = count * mark / marks;
            let x = 36 + room * place / count;
            write!(
                f,
                "<text class=\"axis\" x=\"{x}\" y=\"{}\">{}</text>",
                HEIGHT - 5,
                self.label(self.at(place))
            )?;
        }
        f.write_str("</svg>")
    }
}

fn short(n: u64) -> String {
    match n {
        0..=9_999 => n.to_string(),
        10_000..=999_999 => format!("{}k", n / 1000),
        _ => format!("{}M", n / 1_000_000),
    }
}

fn scale(value: u64, most: u64, height: usize) -> usize {
    let height = u128::try_from(height).unwrap_or(0);
    let scaled = u128::from(value) * height / u128::from(most.max(1));
    usize::try_from(scaled).unwrap_or(0)
}

/// A line without axes: which way it goes. It is broken where nothing is known.
#[derive(Debug, Clone, Default)]
pub struct Spark(pub Vec<Option<u64>>);

impl HtmlSafe for Spark {}

impl fmt::Display for Spark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const W: usize = 120;
        const H: usize = 28;
        let most = self.0.iter().flatten().copied().max().unwrap_or(0);
        let last = self.0.len().saturating_sub(1).max(1);
        write!(
            f,
            "<svg class=\"spark\" viewBox=\"0 0 {W} {H}\" preserveAspectRatio=\"none\" aria-hidden=\"true\" focusable=\"false\">"
        )?;
        let points: Vec<_> = self.0.iter().enumerate().collect();
        for known in points.split(|(_, value)| value.is_none()) {
            let (Some((first, _)), Some((end, _))) = (known.first(), known.last()) else {
                continue;
            };
            let mut line = String::new();
            for (i, value) in known {
                let y = H - 2 - scale(value.unwrap_or(0), most, H - 4);
                let _ = write!(line, "{}{},{y}", if i == first { "" } else { " " }, i * W / last);
            }
            let (left, right) = (first * W / last, end * W / last);
            write!(
                f,
                "<polygon points=\"{left},{H} {line} {right},{H}\"/><polyline points=\"{line}\"/>"
            )?;
        }
        f.write_str("</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_round_numbers() {
        assert_eq!(
            [nice(0), nice(3), nice(7), nice(51), nice(1001)],
            [4, 4, 10, 100, 2000]
        );
        assert_eq!(nice(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_step_says_its_figure_and_leads_to_its_list_and_no_bar_is_drawn_for_nothing() {
        let chart = Chart {
            name: "Delivered",
            tone: "good",
            start: Timestamp::EPOCH,
            step: Duration::from_secs(60),
            values: vec![0, 12, 0],
            zone: Zone::default(),
            list: "/notifications?status=Delivered&amp;",
        };
        let svg = chart.to_string();
        assert_eq!(svg.matches("bar-value").count(), 1);
        assert!(svg.contains("<title>1970-01-01 00:01 UTC: 12</title>"), "{svg}");
        assert!(
            svg.contains("<title>1970-01-01 00:02 UTC: 0</title>"),
            "an empty step says so too"
        );
        let place = "/notifications?status=Delivered&amp;from=1970-01-01T00:01:00.000Z&amp;to=1970-01-01T00:02:00.000Z";
        assert!(svg.contains(place), "{svg}");
        assert!(svg.contains("Delivered: 12 in all"));
        assert!(!svg.contains("style="));
    }

    #[test]
    fn a_flat_line_lies_at_the_bottom() {
        let line = Spark(vec![Some(0), Some(0)]).to_string();
        assert!(line.contains("points=\"0,26 120,26\""), "{line}");
    }

    #[test]
    fn a_line_is_broken_where_nobody_looked() {
        let line = Spark(vec![Some(4), None, None, Some(4)]).to_string();
        assert_eq!(line.matches("<polyline").count(), 2, "{line}");
        // Never down to nothing in between.
        assert!(
            line.contains("<polyline points=\"0,2\"/>") && line.contains("<polyline points=\"120,2\"/>"),
            "{line}"
        );
        assert_eq!(Spark(vec![None]).to_string().matches("<poly").count(), 0);
    }
}
