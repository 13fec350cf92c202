//! Tables: plain columns, cut to the terminal if there is one, whole if there is not.

use super::coloured;
use client::Status;
use comfy_table::{Cell, Color, ContentArrangement, Table, presets};
use std::io::IsTerminal;

/// The cells of one row.
pub type Cells = Vec<Cell>;

/// A table as it is printed.
pub fn table(headers: &[&str], rows: impl IntoIterator<Item = Cells>) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(headers.iter().map(|h| Cell::new(h.to_uppercase())));
    table.set_content_arrangement(match std::io::stdout().is_terminal() {
        true => ContentArrangement::Dynamic,
        false => ContentArrangement::Disabled,
    });
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

/// A status, in its colour where colours are wanted.
pub fn status(status: Status) -> Cell {
    let cell = Cell::new(status.as_str());
    let colour = match status {
        Status::Delivered => Color::Green,
        Status::Parked => Color::Red,
        Status::Retrying => Color::Yellow,
        Status::Discarded => Color::DarkGrey,
        Status::Pending | Status::Forwarding => return cell,
    };
    if coloured() { cell.fg(colour) } else { cell }
}
