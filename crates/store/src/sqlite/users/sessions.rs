//! Sessions of people who signed in, and the links that open one.

use super::{by_id, log, sql};
use crate::{
    Error, Result,
    sqlite::{rows, writer::WriteSession as Writing},
    users::{EXPIRED_CLEARED_AT_ONCE, NewSession, Session, User},
};
use domain::{AuditKind, TenantId, Timestamp, UserId};
use rusqlite::{Connection, OptionalExtension, params};

pub(super) fn sign_in(s: &Writing<'_>, new: &NewSession) -> Result<()> {
    let now = s.now.as_millis();
    let user = by_id(s.conn, new.user)?.ok_or_else(|| Error::Conflict("there is no such user".into()))?;
    s.conn.prepare_cached(sql::session_create)?.execute(params![
        new.hash,
        new.user.0,
        new.tenant.0,
        new.csrf,
        now,
        (s.now + new.ttl).as_millis()
    ])?;
    s.conn
        .prepare_cached(sql::user_signed_in)?
        .execute(params![new.user.0, now])?;
    s.conn
        .prepare_cached(sql::sessions_expired)?
        .execute(params![now, EXPIRED_CLEARED_AT_ONCE])?;
    s.conn.prepare_cached(sql::links_expired)?.execute([now])?;
    let (kind, actor) = (AuditKind::SignedIn, user.actor());
    log(s, new.tenant, kind, &actor, &user.name, new.how)
}

pub(super) fn refused(s: &Writing<'_>, user: &User, detail: &str) -> Result<()> {
    for tenant in user.tenants() {
        let (kind, actor) = (AuditKind::SignInRefused, user.actor());
        log(s, tenant, kind, &actor, &user.name, detail)?;
    }
    Ok(())
}

pub(super) fn live(conn: &Connection, hash: &[u8; 32], now: Timestamp) -> Result<Option<(Session, User)>> {
    let mut statement = conn.prepare_cached(sql::session)?;
    let found = statement
        .query_row(params![hash, now.as_millis()], |row| {
            Ok(Session {
                user: UserId(row.get("user_id")?),
                tenant: TenantId(row.get("tenant")?),
                csrf: row.get("csrf")?,
                created_at: rows::time(row, "created_at")?,
                expires_at: rows::time(row, "expires_at")?,
            })
        })
        .optional()?;
    let Some(session) = found else { return Ok(None) };
    Ok(by_id(conn, session.user)?.map(|user| (session, user)))
}

pub(super) fn end(s: &Writing<'_>, hash: &[u8; 32]) -> Result<bool> {
    let ended: Option<(i64, i32)> = s
        .conn
        .prepare_cached(sql::session_end)?
        .query_row([hash], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((user, tenant)) = ended else {
        return Ok(false);
    };
    if let Some(user) = by_id(s.conn, UserId(user))? {
        let (kind, actor) = (AuditKind::SignedOut, user.actor());
        log(s, TenantId(tenant), kind, &actor, &user.name, "signed out")?;
    }
    Ok(true)
}

pub(super) fn use_link(s: &Writing<'_>, hash: &[u8; 32]) -> Result<Option<UserId>> {
    let params = params![hash, s.now.as_millis()];
    let user: Option<Option<i64>> = s
        .conn
        .prepare_cached(sql::link_use)?
        .query_row(params, |row| row.get(0))
        .optional()?;
    Ok(user.flatten().map(UserId))
}
