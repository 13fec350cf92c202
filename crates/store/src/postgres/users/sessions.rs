//! Sessions of people who signed in.

use super::{by_id, sql};
use crate::{
    Error,
    postgres::{
        directory::log,
        failed::Failed,
        rows,
        session::{Db, Params, Session as _},
        types::millis,
    },
    users::{EXPIRED_CLEARED_AT_ONCE, NewSession, Session, User},
};
use domain::{AuditKind, TenantId, UserId};

pub(super) async fn sign_in(db: &Db, new: &NewSession) -> Result<(), Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let user = by_id(&tx, new.user).await?;
    let user = user.ok_or_else(|| Error::Conflict("there is no such user".into()))?;
    let hash = new.hash.as_slice();
    let (now, ttl) = (db.now(), millis(new.ttl));
    let params: Params<'_> = &[&now, &hash, &new.user.0, &new.tenant.0, &new.csrf, &ttl];
    tx.exec(sql::session_create, params).await?;
    tx.exec(sql::user_signed_in, &[&now, &new.user.0]).await?;
    tx.exec(
        sql::sessions_expired,
        &[&now, &i64::from(EXPIRED_CLEARED_AT_ONCE)],
    )
    .await?;
    tx.exec(sql::links_expired, &[&now]).await?;
    let (kind, actor) = (AuditKind::SignedIn, user.actor());
    log(db, &tx, new.tenant, kind, &actor, &user.name, new.how).await?;
    tx.commit().await
}

pub(super) async fn refused(db: &Db, user: &User, detail: &str) -> Result<(), Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    for tenant in user.tenants() {
        let (kind, actor) = (AuditKind::SignInRefused, user.actor());
        log(db, &tx, tenant, kind, &actor, &user.name, detail).await?;
    }
    tx.commit().await
}

pub(super) async fn end(db: &Db, hash: &[u8; 32]) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let Some(ended) = tx.opt(sql::session_end, &[&hash.as_slice()]).await? else {
        return Ok(false);
    };
    if let Some(user) = by_id(&tx, UserId(ended.get(0))).await? {
        let (tenant, actor) = (TenantId(ended.get(1)), user.actor());
        log(
            db,
            &tx,
            tenant,
            AuditKind::SignedOut,
            &actor,
            &user.name,
            "signed out",
        )
        .await?;
    }
    tx.commit().await?;
    Ok(true)
}

pub(super) async fn live(db: &Db, hash: &[u8; 32]) -> Result<Option<(Session, User)>, Failed> {
    let session = db.general().await?;
    let found = session.opt(sql::session, &[&db.now(), &hash.as_slice()]).await?;
    let Some(row) = found else { return Ok(None) };
    let found = Session {
        user: UserId(row.get("user_id")),
        tenant: TenantId(row.get("tenant")),
        csrf: row.get("csrf"),
        created_at: rows::time(&row, "created_at"),
        expires_at: rows::time(&row, "expires_at"),
    };
    Ok(by_id(&session, found.user).await?.map(|user| (found, user)))
}
