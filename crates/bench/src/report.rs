//! The table: the median of each figure over its rounds, its spread, its limit, the ratio, and whether it is enough.

use super::reading::{Reading, Target, Unit};
use crate::limits::percentile;
use comfy_table::{Cell, ContentArrangement, Table, presets};
use serde_json::{Value, json};

/// One line of the table.
#[derive(Debug)]
pub struct Row {
    database: &'static str,
    figure: String,
    unit: Unit,
    values: Vec<f64>,
    limit: Option<(String, f64)>,
    ratio: Option<f64>,
    target: Target,
    note: Option<String>,
}

/// Readings of the same figure on the same database become one row, in the order in which they first came.
pub fn rows(readings: &[(&'static str, Reading)]) -> Vec<Row> {
    let mut rows: Vec<Row> = vec![];
    for (database, reading) in readings {
        if rows
            .iter()
            .any(|r| r.database == *database && r.figure == reading.figure)
        {
            continue;
        }
        let same = || {
            readings
                .iter()
                .filter(|(d, r)| d == database && r.figure == reading.figure)
                .map(|(_, r)| r)
        };
        let limits: Vec<f64> = same().filter_map(|r| r.limit.as_ref().map(|l| l.value)).collect();
        let ratios: Vec<f64> = same().filter_map(Reading::ratio).collect();
        let name = reading.limit.as_ref().map(|l| l.name.clone());
        rows.push(Row {
            database,
            figure: reading.figure.clone(),
            unit: reading.unit,
            values: same().map(|r| r.value).collect(),
            limit: name.zip(median(limits)),
            ratio: median(ratios),
            target: reading.target,
            note: same().filter_map(|r| r.note.clone()).next_back(),
        });
    }
    rows
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    (!values.is_empty()).then(|| percentile(&mut values, 0.5))
}

impl Row {
    fn median(&self) -> f64 {
        median(self.values.clone()).unwrap_or(f64::NAN)
    }

    fn least(&self) -> f64 {
        self.values.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn most(&self) -> f64 {
        self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    fn met(&self) -> Option<bool> {
        self.target.met(self.median(), self.ratio)
    }
}

/// The machine, then the table, as Markdown.
pub fn print(machine: &[(String, String)], rows: &[Row]) -> anyhow::Result<()> {
    for (name, value) in machine {
        crate::line(format_args!("{name}: {value}"))?;
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header([
        "database",
        "workload",
        "median",
        "min … max",
        "limit in the same round",
        "ratio",
        "target",
        "",
        "note",
    ]);
    for row in rows {
        let show = |value: f64| row.unit.show(value);
        let mark = row.met().map_or("", |met| if met { "✓" } else { "✗" });
        table.add_row([
            Cell::new(row.database),
            Cell::new(&row.figure),
            Cell::new(show(row.median())),
            Cell::new(format!("{} … {}", show(row.least()), show(row.most()))),
            Cell::new(
                row.limit
                    .as_ref()
                    .map_or_else(String::new, |(name, value)| format!("{} {name}", show(*value))),
            ),
            Cell::new(row.ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"))),
            Cell::new(row.target),
            Cell::new(mark),
            Cell::new(row.note.as_deref().unwrap_or("")),
        ]);
    }
    crate::line(format_args!("\n{table}"))
}

pub fn json(machine: &[(String, String)], rows: &[Row]) -> Value {
    let machine: serde_json::Map<String, Value> = machine
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "database": row.database,
                "workload": row.figure,
                "unit": row.unit.as_str(),
                "median": row.median(),
                "values": row.values,
                "limit": row.limit.as_ref().map(|(name, value)| json!({ "name": name, "median": value })),
                "ratio": row.ratio,
                "target": row.target.to_string(),
                "met": row.met(),
                "note": row.note,
            })
        })
        .collect();
    json!({ "machine": machine, "results": rows })
}
