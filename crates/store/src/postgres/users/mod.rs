//! The [`Users`] trait on PostgreSQL.

mod sql;

use crate::{
    Error, Result, Users,
    directory::Role,
    postgres::{
        PgStore,
        directory::log,
        failed::Failed,
        rows,
        session::{Db, Params, Session as _, Tx},
        types::millis,
    },
    users::{CLEARED, LINK_MADE, NewSession, NewUser, PasswordHash, Session, User, name_key},
};
use async_trait::async_trait;
use domain::{Actor, AuditKind, TenantId, UserId};
use std::time::Duration;
use tokio_postgres::Row;

#[async_trait]
impl Users for PgStore {
    async fn create_user(&self, new: NewUser, actor: &Actor) -> Result<User> {
        create(&self.db, &new, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn users(&self, tenant: TenantId) -> Result<Vec<User>> {
        Ok(read(&self.db.general().await?, sql::users_of, &[&tenant.0]).await?)
    }

    async fn all_users(&self) -> Result<Vec<User>> {
        Ok(read(&self.db.general().await?, sql::users_all, &[]).await?)
    }

    async fn user(&self, id: UserId) -> Result<Option<User>> {
        Ok(by_id(&self.db.general().await?, id).await?)
    }

    async fn user_by_name(&self, name: &str) -> Result<Option<User>> {
        let session = self.db.general().await?;
        Ok(read(&session, sql::user_by_name, &[&name_key(name)]).await?.pop())
    }

    async fn user_by_subject(&self, subject: &str) -> Result<Option<User>> {
        let session = self.db.general().await?;
        Ok(read(&session, sql::user_by_subject, &[&subject]).await?.pop())
    }

    async fn set_password(&self, user: UserId, hash: &PasswordHash, actor: &Actor) -> Result<bool> {
        set_password(&self.db, user, hash, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn set_role(
        &self,
        user: UserId,
        tenant: TenantId,
        role: Option<Role>,
        actor: &Actor,
    ) -> Result<bool> {
        set_role(&self.db, user, tenant, role, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn set_disabled(&self, user: UserId, disabled: bool, actor: &Actor) -> Result<bool> {
        set_disabled(&self.db, user, disabled, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn sign_in(&self, new: NewSession) -> Result<()> {
        sign_in(&self.db, &new).await.map_err(Failed::while_committing)
    }

    async fn sign_in_refused(&self, user: &User, detail: &str) -> Result<()> {
        refused(&self.db, user, detail)
            .await
            .map_err(Failed::while_committing)
    }

    async fn session(&self, hash: &[u8; 32]) -> Result<Option<(Session, User)>> {
        let session = self.db.general().await?;
        let found = session
            .opt(sql::session, &[&self.db.now(), &hash.as_slice()])
            .await?;
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

    async fn renew_session(&self, hash: &[u8; 32], ttl: Duration) -> Result<bool> {
        let session = self.db.general().await?;
        let params: Params<'_> = &[&self.db.now(), &hash.as_slice(), &millis(ttl)];
        Ok(session.exec(sql::session_renew, params).await? > 0)
    }

    async fn choose_tenant(&self, hash: &[u8; 32], tenant: TenantId) -> Result<bool> {
        let session = self.db.general().await?;
        let chosen = session
            .exec(sql::session_tenant, &[&hash.as_slice(), &tenant.0])
            .await?;
        Ok(chosen > 0)
    }

    async fn end_session(&self, hash: &[u8; 32]) -> Result<bool> {
        end_session(&self.db, hash)
            .await
            .map_err(Failed::while_committing)
    }

    async fn create_link(&self, hash: &[u8; 32], user: UserId, ttl: Duration, actor: &Actor) -> Result<()> {
        create_link(&self.db, hash, user, ttl, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn use_link(&self, hash: &[u8; 32]) -> Result<Option<UserId>> {
        let session = self.db.general().await?;
        let used = session
            .opt(sql::link_use, &[&self.db.now(), &hash.as_slice()])
            .await?;
        Ok(used.and_then(|row| row.get::<_, Option<i64>>(0)).map(UserId))
    }
}

async fn create(db: &Db, new: &NewUser, actor: &Actor) -> Result<User, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let password = new.password.as_ref().map(|hash| &hash.0);
    let params: Params<'_> = &[
        &db.now(),
        &new.name,
        &name_key(&new.name),
        &password,
        &new.subject,
    ];
    let made = tx.opt(sql::user_create, params).await?;
    let made = made.ok_or_else(|| Error::Conflict(format!("there is a user {:?} already", new.name)))?;
    let id = UserId(made.get(0));
    tx.exec(sql::user_role_put, &[&id.0, &new.tenant.0, &new.role.as_str()])
        .await?;
    let detail = format!("created with role {}", new.role);
    log(
        db,
        &tx,
        new.tenant,
        AuditKind::UserChanged,
        actor,
        &new.name,
        &detail,
    )
    .await?;
    let user = by_id(&tx, id).await?;
    tx.commit().await?;
    user.ok_or_else(|| Error::corrupt("users", "a row just written is gone").into())
}

async fn set_password(db: &Db, user: UserId, hash: &PasswordHash, actor: &Actor) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let set = tx.exec(sql::user_password, &[&user.0, &hash.0]).await?;
    end_all(&tx, user).await?;
    changed(db, &tx, user, actor, "password changed").await?;
    tx.commit().await?;
    Ok(set > 0)
}

async fn set_role(
    db: &Db,
    user: UserId,
    tenant: TenantId,
    role: Option<Role>,
    actor: &Actor,
) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let Some(found) = by_id(&tx, user).await? else {
        return Ok(false);
    };
    let detail = match role {
        Some(role) => {
            tx.exec(sql::user_role_put, &[&user.0, &tenant.0, &role.as_str()])
                .await?;
            format!("role {role}")
        }
        None => {
            tx.exec(sql::user_role_delete, &[&user.0, &tenant.0]).await?;
            if found.roles.iter().all(|(known, _)| *known == tenant) {
                end_all(&tx, user).await?;
            }
            "no role any more".into()
        }
    };
    log(
        db,
        &tx,
        tenant,
        AuditKind::UserChanged,
        actor,
        &found.name,
        &detail,
    )
    .await?;
    tx.commit().await?;
    Ok(true)
}

async fn set_disabled(db: &Db, user: UserId, disabled: bool, actor: &Actor) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    if tx
        .exec(sql::user_disable, &[&db.now(), &user.0, &disabled])
        .await?
        == 0
    {
        return Ok(false);
    }
    if disabled {
        end_all(&tx, user).await?;
    }
    let detail = if disabled { "disabled" } else { "enabled" };
    changed(db, &tx, user, actor, detail).await?;
    tx.commit().await?;
    Ok(true)
}

async fn create_link(
    db: &Db,
    hash: &[u8; 32],
    user: UserId,
    ttl: Duration,
    actor: &Actor,
) -> Result<(), Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let params: Params<'_> = &[&db.now(), &hash.as_slice(), &user.0, &millis(ttl)];
    tx.exec(sql::link_create, params).await?;
    changed(db, &tx, user, actor, LINK_MADE).await?;
    tx.commit().await
}

/// Sessions, and links that would open new ones.
async fn end_all(tx: &Tx<'_>, user: UserId) -> Result<(), Failed> {
    tx.exec(sql::sessions_end_of, &[&user.0]).await?;
    tx.exec(sql::links_end_of, &[&user.0]).await?;
    Ok(())
}

async fn sign_in(db: &Db, new: &NewSession) -> Result<(), Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let user = by_id(&tx, new.user).await?;
    let user = user.ok_or_else(|| Error::Conflict("there is no such user".into()))?;
    let hash = new.hash.as_slice();
    let (now, ttl) = (db.now(), millis(new.ttl));
    let params: Params<'_> = &[&now, &hash, &new.user.0, &new.tenant.0, &new.csrf, &ttl];
    tx.exec(sql::session_create, params).await?;
    tx.exec(sql::user_signed_in, &[&now, &new.user.0]).await?;
    tx.exec(sql::sessions_expired, &[&now, &i64::from(CLEARED)])
        .await?;
    tx.exec(sql::links_expired, &[&now]).await?;
    let (kind, actor) = (AuditKind::SignedIn, user.actor());
    log(db, &tx, new.tenant, kind, &actor, &user.name, new.how).await?;
    tx.commit().await
}

async fn refused(db: &Db, user: &User, detail: &str) -> Result<(), Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    for (tenant, _) in &user.roles {
        let (kind, actor) = (AuditKind::SignInRefused, user.actor());
        log(db, &tx, *tenant, kind, &actor, &user.name, detail).await?;
    }
    tx.commit().await
}

async fn end_session(db: &Db, hash: &[u8; 32]) -> Result<bool, Failed> {
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

/// Writes a change down in every tenant that knows the user.
async fn changed(db: &Db, tx: &Tx<'_>, user: UserId, actor: &Actor, detail: &str) -> Result<(), Failed> {
    let Some(user) = by_id(tx, user).await? else {
        return Ok(());
    };
    for (tenant, _) in &user.roles {
        log(db, tx, *tenant, AuditKind::UserChanged, actor, &user.name, detail).await?;
    }
    Ok(())
}

async fn by_id(session: &impl super::session::Session, id: UserId) -> Result<Option<User>, Failed> {
    Ok(read(session, sql::user_by_id, &[&id.0]).await?.pop())
}

/// Users of a statement that gives a row per role.
async fn read(
    session: &impl super::session::Session,
    statement: &'static str,
    params: Params<'_>,
) -> Result<Vec<User>, Failed> {
    let mut users: Vec<User> = vec![];
    for row in session.rows(statement, params).await? {
        let user = user(&row)?;
        match users.last_mut() {
            Some(last) if last.id == user.id => last.roles.extend(user.roles),
            _ => users.push(user),
        }
    }
    Ok(users)
}

fn user(row: &Row) -> Result<User> {
    let role: Option<&str> = row.get("role");
    let role = role.map(|role| rows::parsed("user_roles", role)).transpose()?;
    let tenant: Option<i32> = row.get("tenant");
    Ok(User {
        id: UserId(row.get("user_id")),
        name: row.get("name"),
        password: row.get::<_, Option<String>>("password").map(PasswordHash),
        subject: row.get("subject"),
        roles: tenant.map(TenantId).zip(role).into_iter().collect(),
        created_at: rows::time(row, "created_at"),
        last_sign_in_at: rows::time_opt(row, "last_sign_in_at"),
        disabled_at: rows::time_opt(row, "disabled_at"),
    })
}
