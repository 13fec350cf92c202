//! The [`Users`] trait on SQLite; sessions and one-time links are in [`sessions`].

mod sessions;
mod sql;

use crate::{
    Error, Result, Users,
    audit::Entry,
    directory::Role,
    sqlite::{
        SqliteStore, audit,
        rows::{self, all},
        writer::WriteSession as Writing,
    },
    users::{
        LINK_MADE, MAX_SAVED_FILTERS, NewSession, NewUser, PasswordHash, SavedFilter, Session, User,
        name_key, role_in_words, too_many_filters,
    },
};
use async_trait::async_trait;
use domain::{Actor, AuditKind, TenantId, UserId};
use rusqlite::{Connection, OptionalExtension, Params, params};
use std::time::Duration;

#[async_trait]
impl Users for SqliteStore {
    async fn create_user(&self, new: NewUser, actor: &Actor) -> Result<User> {
        let actor = actor.clone();
        self.write(1, move |s| create(s, &new, &actor)).await
    }

    async fn users(&self, tenant: TenantId) -> Result<Vec<User>> {
        self.read(move |conn| read(conn, sql::users_of, [tenant.0])).await
    }

    async fn all_users(&self) -> Result<Vec<User>> {
        self.read(|conn| read(conn, sql::users_all, [])).await
    }

    async fn has_users(&self) -> Result<bool> {
        self.read(|conn| {
            Ok(conn
                .prepare_cached(sql::users_any)?
                .query_row([], |row| row.get(0))?)
        })
        .await
    }

    async fn user(&self, id: UserId) -> Result<Option<User>> {
        self.read(move |conn| by_id(conn, id)).await
    }

    async fn user_by_name(&self, name: &str) -> Result<Option<User>> {
        let key = name_key(name);
        self.read(move |conn| Ok(read(conn, sql::user_by_name, [key])?.pop()))
            .await
    }

    async fn user_by_subject(&self, subject: &str) -> Result<Option<User>> {
        let subject = subject.to_owned();
        self.read(move |conn| Ok(read(conn, sql::user_by_subject, [subject])?.pop()))
            .await
    }

    async fn set_password(&self, user: UserId, hash: &PasswordHash, actor: &Actor) -> Result<bool> {
        let (hash, actor) = (hash.clone(), actor.clone());
        self.write(1, move |s| {
            let set = s
                .conn
                .prepare_cached(sql::user_password)?
                .execute(params![user.0, hash.0])?;
            end_all(s, user)?;
            changed(s, user, &actor, "password changed")?;
            Ok(set > 0)
        })
        .await
    }

    async fn set_role(
        &self,
        user: UserId,
        tenant: TenantId,
        role: Option<Role>,
        actor: &Actor,
    ) -> Result<bool> {
        let actor = actor.clone();
        self.write(1, move |s| {
            let Some(found) = by_id(s.conn, user)? else {
                return Ok(false);
            };
            if let Some(role) = role {
                let params = params![user.0, tenant.0, role.as_str()];
                s.conn.prepare_cached(sql::user_role_put)?.execute(params)?;
            } else {
                let params = params![user.0, tenant.0];
                s.conn.prepare_cached(sql::user_role_delete)?.execute(params)?;
                if found.has_only(tenant) {
                    end_all(s, user)?;
                }
            }
            let detail = role_in_words(role);
            log(s, tenant, AuditKind::UserChanged, &actor, &found.name, &detail)?;
            Ok(true)
        })
        .await
    }

    async fn set_disabled(&self, user: UserId, disabled: bool, actor: &Actor) -> Result<bool> {
        let actor = actor.clone();
        self.write(1, move |s| {
            let at = disabled.then_some(s.now.as_millis());
            let done = s
                .conn
                .prepare_cached(sql::user_disable)?
                .execute(params![user.0, at])?;
            if done == 0 {
                return Ok(false);
            }
            if disabled {
                end_all(s, user)?;
            }
            changed(s, user, &actor, if disabled { "disabled" } else { "enabled" })?;
            Ok(true)
        })
        .await
    }

    async fn sign_in(&self, new: NewSession) -> Result<()> {
        self.write(1, move |s| sessions::sign_in(s, &new)).await
    }

    async fn sign_in_refused(&self, user: &User, detail: &str) -> Result<()> {
        let (user, detail) = (user.clone(), detail.to_owned());
        self.write(1, move |s| sessions::refused(s, &user, &detail)).await
    }

    async fn session(&self, hash: &[u8; 32]) -> Result<Option<(Session, User)>> {
        let (hash, now) = (*hash, self.clock.now());
        self.read(move |conn| sessions::live(conn, &hash, now)).await
    }

    async fn renew_session(&self, hash: &[u8; 32], ttl: Duration) -> Result<bool> {
        let hash = *hash;
        self.write(1, move |s| {
            let params = params![hash, (s.now + ttl).as_millis(), s.now.as_millis()];
            Ok(s.conn.prepare_cached(sql::session_renew)?.execute(params)? > 0)
        })
        .await
    }

    async fn choose_tenant(&self, hash: &[u8; 32], tenant: TenantId) -> Result<bool> {
        let hash = *hash;
        self.write(1, move |s| {
            let mut choose = s.conn.prepare_cached(sql::session_tenant)?;
            Ok(choose.execute(params![hash, tenant.0])? > 0)
        })
        .await
    }

    async fn end_session(&self, hash: &[u8; 32]) -> Result<bool> {
        let hash = *hash;
        self.write(1, move |s| sessions::end(s, &hash)).await
    }

    async fn create_link(&self, hash: &[u8; 32], user: UserId, ttl: Duration, actor: &Actor) -> Result<()> {
        let (hash, actor) = (*hash, actor.clone());
        self.write(1, move |s| {
            let params = params![hash, user.0, (s.now + ttl).as_millis()];
            s.conn.prepare_cached(sql::link_create)?.execute(params)?;
            changed(s, user, &actor, LINK_MADE)
        })
        .await
    }

    async fn saved_filters(&self, user: UserId, tenant: TenantId) -> Result<Vec<SavedFilter>> {
        self.read(move |conn| {
            all(conn, sql::filters_of, params![user.0, tenant.0], |row| {
                Ok(SavedFilter {
                    name: row.get("name")?,
                    query: row.get("query")?,
                })
            })
        })
        .await
    }

    async fn save_filter(&self, user: UserId, tenant: TenantId, filter: SavedFilter) -> Result<()> {
        self.write(1, move |s| {
            let params = params![user.0, tenant.0, filter.name, filter.query, MAX_SAVED_FILTERS];
            match s.conn.prepare_cached(sql::filter_put)?.execute(params)? {
                0 => Err(too_many_filters()),
                _ => Ok(()),
            }
        })
        .await
    }

    async fn forget_filter(&self, user: UserId, tenant: TenantId, name: &str) -> Result<bool> {
        let name = name.to_owned();
        self.write(1, move |s| {
            let mut delete = s.conn.prepare_cached(sql::filter_delete)?;
            Ok(delete.execute(params![user.0, tenant.0, name])? > 0)
        })
        .await
    }

    async fn use_link(&self, hash: &[u8; 32]) -> Result<Option<UserId>> {
        let hash = *hash;
        self.write(1, move |s| sessions::use_link(s, &hash)).await
    }
}

fn create(s: &Writing<'_>, new: &NewUser, actor: &Actor) -> Result<User> {
    let made: Option<i64> = s
        .conn
        .prepare_cached(sql::user_create)?
        .query_row(
            params![
                new.name,
                name_key(&new.name),
                new.password.as_ref().map(|hash| &hash.0),
                new.subject,
                s.now.as_millis()
            ],
            |row| row.get(0),
        )
        .optional()?;
    let id = made.ok_or_else(|| Error::Conflict(format!("there is a user {:?} already", new.name)))?;
    let params = params![id, new.tenant.0, new.role.as_str()];
    s.conn.prepare_cached(sql::user_role_put)?.execute(params)?;
    let detail = format!("created with role {}", new.role);
    log(s, new.tenant, AuditKind::UserChanged, actor, &new.name, &detail)?;
    by_id(s.conn, UserId(id))?.ok_or_else(|| Error::corrupt("users", "a row just written is gone"))
}

/// Sessions, and links that would open new ones.
fn end_all(s: &Writing<'_>, user: UserId) -> Result<()> {
    s.conn.prepare_cached(sql::sessions_end_of)?.execute([user.0])?;
    s.conn.prepare_cached(sql::links_end_of)?.execute([user.0])?;
    Ok(())
}

/// Writes a change down in every tenant that knows the user.
fn changed(s: &Writing<'_>, user: UserId, actor: &Actor, detail: &str) -> Result<()> {
    let Some(user) = by_id(s.conn, user)? else {
        return Ok(());
    };
    for tenant in user.tenants() {
        log(s, tenant, AuditKind::UserChanged, actor, &user.name, detail)?;
    }
    Ok(())
}

fn log(
    s: &Writing<'_>,
    tenant: TenantId,
    kind: AuditKind,
    actor: &Actor,
    target: &str,
    detail: &str,
) -> Result<()> {
    audit::insert(s, &Entry::of_change(tenant, kind, actor, target, detail))
}

fn by_id(conn: &Connection, id: UserId) -> Result<Option<User>> {
    Ok(read(conn, sql::user_by_id, [id.0])?.pop())
}

/// Users of a statement that gives a row per role.
fn read(conn: &Connection, statement: &str, params: impl Params) -> Result<Vec<User>> {
    let found = all(conn, statement, params, |row| {
        let role: Option<String> = row.get("role")?;
        let role = role.map(|role| rows::parse("user_roles", &role)).transpose()?;
        let tenant: Option<i32> = row.get("tenant")?;
        let user = User {
            id: UserId(row.get("user_id")?),
            name: row.get("name")?,
            password: row.get::<_, Option<String>>("password")?.map(PasswordHash),
            subject: row.get("subject")?,
            roles: tenant.map(TenantId).zip(role).into_iter().collect(),
            created_at: rows::time(row, "created_at")?,
            last_sign_in_at: rows::optional_time(row, "last_sign_in_at")?,
            disabled_at: rows::optional_time(row, "disabled_at")?,
        };
        Ok(user)
    })?;
    Ok(User::gather(found))
}
