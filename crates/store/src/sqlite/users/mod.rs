//! The [`Users`] trait on SQLite.

mod sql;

use crate::{
    Error, Result, Users,
    directory::Role,
    sqlite::{
        SqliteStore,
        audit::{self, AuditEntry},
        rows::{self, all},
        writer::Session as Writing,
    },
    users::{CLEARED, LINK_MADE, NewSession, NewUser, PasswordHash, Session, User, name_key},
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
            let detail = match role {
                Some(role) => {
                    let params = params![user.0, tenant.0, role.as_str()];
                    s.conn.prepare_cached(sql::user_role_put)?.execute(params)?;
                    format!("role {role}")
                }
                None => {
                    let params = params![user.0, tenant.0];
                    s.conn.prepare_cached(sql::user_role_delete)?.execute(params)?;
                    if found.roles.iter().all(|(known, _)| *known == tenant) {
                        end_all(s, user)?;
                    }
                    "no role any more".into()
                }
            };
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
        self.write(1, move |s| {
            let now = s.now.as_millis();
            let user =
                by_id(s.conn, new.user)?.ok_or_else(|| Error::Conflict("there is no such user".into()))?;
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
                .execute(params![now, CLEARED])?;
            s.conn.prepare_cached(sql::links_expired)?.execute([now])?;
            log(
                s,
                new.tenant,
                AuditKind::SignedIn,
                &user.actor(),
                &user.name,
                new.how,
            )
        })
        .await
    }

    async fn sign_in_refused(&self, user: &User, detail: &str) -> Result<()> {
        let (user, detail) = (user.clone(), detail.to_owned());
        self.write(1, move |s| {
            for tenant in concerned(&user) {
                log(
                    s,
                    tenant,
                    AuditKind::SignInRefused,
                    &user.actor(),
                    &user.name,
                    &detail,
                )?;
            }
            Ok(())
        })
        .await
    }

    async fn session(&self, hash: &[u8; 32]) -> Result<Option<(Session, User)>> {
        let (hash, now) = (*hash, self.clock.now());
        self.read(move |conn| {
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
        })
        .await
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
        self.write(1, move |s| {
            let ended: Option<(i64, i32)> = s
                .conn
                .prepare_cached(sql::session_end)?
                .query_row([hash], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((user, tenant)) = ended else {
                return Ok(false);
            };
            if let Some(user) = by_id(s.conn, UserId(user))? {
                let tenant = TenantId(tenant);
                log(
                    s,
                    tenant,
                    AuditKind::SignedOut,
                    &user.actor(),
                    &user.name,
                    "signed out",
                )?;
            }
            Ok(true)
        })
        .await
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

    async fn use_link(&self, hash: &[u8; 32]) -> Result<Option<UserId>> {
        let hash = *hash;
        self.write(1, move |s| {
            let params = params![hash, s.now.as_millis()];
            let user: Option<Option<i64>> = s
                .conn
                .prepare_cached(sql::link_use)?
                .query_row(params, |row| row.get(0))
                .optional()?;
            Ok(user.flatten().map(UserId))
        })
        .await
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
    for tenant in concerned(&user) {
        log(s, tenant, AuditKind::UserChanged, actor, &user.name, detail)?;
    }
    Ok(())
}

fn concerned(user: &User) -> impl Iterator<Item = TenantId> {
    user.roles.iter().map(|(tenant, _)| *tenant)
}

fn log(
    s: &Writing<'_>,
    tenant: TenantId,
    kind: AuditKind,
    actor: &Actor,
    target: &str,
    detail: &str,
) -> Result<()> {
    let entry = AuditEntry {
        target: Some(target),
        detail: Some(detail),
        ..AuditEntry::new(tenant, kind, actor)
    };
    audit::entry(s, &entry)
}

fn by_id(conn: &Connection, id: UserId) -> Result<Option<User>> {
    Ok(read(conn, sql::user_by_id, [id.0])?.pop())
}

/// Users of a statement that gives a row per role.
fn read(conn: &Connection, statement: &str, params: impl Params) -> Result<Vec<User>> {
    let mut users: Vec<User> = vec![];
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
    for user in found {
        match users.last_mut() {
            Some(last) if last.id == user.id => last.roles.extend(user.roles),
            _ => users.push(user),
        }
    }
    Ok(users)
}
