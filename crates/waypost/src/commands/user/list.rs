//! `waypost user list`.

use super::{List, Opened};
use crate::{
    cli::Global,
    output::{self, table, time},
    wiring::store,
};
use comfy_table::Cell;
use domain::TenantId;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: i64,
    name: String,
    roles: BTreeMap<String, String>,
    has_password: bool,
    disabled: bool,
    created_at: domain::Timestamp,
    last_sign_in_at: Option<domain::Timestamp>,
}

pub async fn list(args: List, global: &Global) -> anyhow::Result<()> {
    let opened = Opened::open(&args.place, global, false).await?;
    let tenants: BTreeMap<TenantId, String> = opened
        .store
        .tenants()
        .await?
        .into_iter()
        .map(|tenant| (tenant.id, tenant.name))
        .collect();
    let rows: Vec<Row> = opened
        .store
        .all_users()
        .await?
        .into_iter()
        .map(|user| Row {
            id: user.id.0,
            roles: user
                .roles
                .iter()
                .map(|(tenant, role)| {
                    let name = tenants.get(tenant).cloned().unwrap_or_else(|| tenant.to_string());
                    (name, role.to_string())
                })
                .collect(),
            has_password: user.password.is_some(),
            disabled: user.disabled_at.is_some(),
            created_at: user.created_at,
            last_sign_in_at: user.last_sign_in_at,
            name: user.name,
        })
        .collect();
    store::close(&opened.store).await;
    if args.format.json {
        return output::json(&rows);
    }
    if rows.is_empty() {
        output::note(
            "no user yet; `waypost user add NAME --role admin` makes one and prints a link that signs in once",
        );
        return Ok(());
    }
    let cells = rows.iter().map(|row| {
        let roles: Vec<_> = row
            .roles
            .iter()
            .map(|(tenant, role)| format!("{role} of {tenant}"))
            .collect();
        vec![
            Cell::new(&row.name),
            Cell::new(roles.join(", ")),
            Cell::new(if row.disabled { "kept out" } else { "" }),
            Cell::new(time::short(row.created_at)),
            Cell::new(row.last_sign_in_at.map(time::short).unwrap_or_default()),
        ]
    });
    output::line(table(&["name", "roles", "", "added", "last sign-in"], cells).trim_fmt())
}
