//! The [`Users`] trait on PostgreSQL; sessions are in [`sessions`].

mod sessions;
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
    users::{
        LINK_MADE, MAX_SAVED_FILTERS, NewSession, NewUser, PasswordHash, SavedFilter, Session, User,
        name_key, role_in_words, too_many_filters,
    },
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

    async fn has_users(&self) -> Result<bool> {
        Ok(self.db.general().await?.one(sql::users_any, &[]).await?.get(0))
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
        sessions::sign_in(&self.db, &new)
            .await
            .map_err(Failed::while_committing)
    }

    async fn sign_in_refused(&self, user: &User, detail: &str) -> Result<()> {
        sessions::refused(&self.db, user, detail)
            .await
            .map_err(Failed::while_committing)
    }

    async fn session(&self, hash: &[u8; 32]) -> Result<Option<(Session, User)>> {
        Ok(sessions::live(&self.db, hash).await?)
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
        sessions::end(&self.db, hash)
            .await
            .map_err(Failed::while_committing)
    }

    async fn create_link(&self, hash: &[u8; 32], user: UserId, ttl: Duration, actor: &Actor) -> Result<()> {
        create_link(&self.db, hash, user, ttl, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn saved_filters(&self, user: UserId, tenant: TenantId) -> Result<Vec<SavedFilter>> {
        let session = self.db.general().await?;
        let found = session.rows(sql::filters_of, &[&user.0, &tenant.0]).await?;
        let filter = |row: &Row| SavedFilter {
            name: row.get("name"),
            query: row.get("query"),
        };
        Ok(found.iter().map(filter).collect())
    }

    async fn save_filter(&self, user: UserId, tenant: TenantId, filter: SavedFilter) -> Result<()> {
        let session = self.db.general().await?;
        let most = i64::from(MAX_SAVED_FILTERS);
        let params: Params<'_> = &[&user.0, &tenant.0, &filter.name, &filter.query, &most];
        match session.exec(sql::filter_put, params).await? {
            0 => Err(too_many_filters()),
            _ => Ok(()),
        }
    }

    async fn forget_filter(&self, user: UserId, tenant: TenantId, name: &str) -> Result<bool> {
        let session = self.db.general().await?;
        let params: Params<'_> = &[&user.0, &tenant.0, &name];
        Ok(session.exec(sql::filter_delete, params).await? > 0)
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
    if let Some(role) = role {
        tx.exec(sql::user_role_put, &[&user.0, &tenant.0, &role.as_str()])
            .await?;
    } else {
        tx.exec(sql::user_role_delete, &[&user.0, &tenant.0]).await?;
        if found.has_only(tenant) {
            end_all(&tx, user).await?;
        }
    }
    let detail = role_in_words(role);
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

/// Writes a change down in every tenant that knows the user.
async fn changed(db: &Db, tx: &Tx<'_>, user: UserId, actor: &Actor, detail: &str) -> Result<(), Failed> {
    let Some(user) = by_id(tx, user).await? else {
        return Ok(());
    };
    for tenant in user.tenants() {
        log(db, tx, tenant, AuditKind::UserChanged, actor, &user.name, detail).await?;
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
    let found = session.rows(statement, params).await?;
    let users: Vec<User> = found.iter().map(user).collect::<Result<_>>()?;
    Ok(User::gather(users))
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
