//! People, their sessions and their links.

use crate::harness::*;
use domain::{Actor, AuditKind, Clock, TenantId};
use store::{
    Error,
    directory::Role,
    query::{AuditFilter, Page},
    users::{MAX_SAVED_FILTERS, NewSession, NewUser, PasswordHash, SavedFilter, User},
};

fn ann(tenant: TenantId) -> NewUser {
    NewUser {
        name: "Ann".into(),
        password: Some(PasswordHash("$argon2id$x".into())),
        subject: None,
        tenant,
        role: Role::Operator,
    }
}

async fn made(t: &TestStore) -> User {
    t.store.create_user(ann(TENANT), &admin()).await.unwrap()
}

async fn signed_in(t: &TestStore, user: &User, hash: u8) -> [u8; 32] {
    let session = NewSession {
        hash: [hash; 32],
        user: user.id,
        tenant: TENANT,
        csrf: "secret".into(),
        ttl: HOUR,
        how: "password",
    };
    t.store.sign_in(session).await.unwrap();
    [hash; 32]
}

async fn log(t: &TestStore, tenant: TenantId) -> Vec<(AuditKind, String, String)> {
    let page = Page {
        limit: 50,
        after: None,
    };
    let rows = t
        .store
        .audit(tenant, &AuditFilter::default(), page)
        .await
        .unwrap()
        .rows;
    let mut rows: Vec<_> = rows
        .into_iter()
        .map(|row| {
            (
                row.kind,
                row.target.unwrap_or_default(),
                row.detail.unwrap_or_default(),
            )
        })
        .collect();
    rows.reverse();
    rows
}

pub async fn a_user_is_read_back_to_the_last_field(t: &TestStore) {
    assert!(!t.store.has_users().await.unwrap());
    let user = t
        .store
        .create_user(
            NewUser {
                subject: Some("https://id.example|42".into()),
                ..ann(TENANT)
            },
            &admin(),
        )
        .await
        .unwrap();
    assert_eq!((user.name.as_str(), user.created_at), ("Ann", t.clock.now()));
    assert_eq!(user.roles, [(TENANT, Role::Operator)]);
    assert_eq!((user.last_sign_in_at, user.disabled_at), (None, None));
    let found = Some(user.clone());
    assert_eq!(t.store.user(user.id).await.unwrap(), found);
    assert_eq!(t.store.user_by_name("aNN").await.unwrap(), found);
    assert_eq!(
        t.store.user_by_subject("https://id.example|42").await.unwrap(),
        found
    );
    assert_eq!(t.store.users(TENANT).await.unwrap(), std::slice::from_ref(&user));
    assert_eq!(t.store.all_users().await.unwrap(), [user]);
    assert!(t.store.has_users().await.unwrap());
    assert_eq!(t.store.user_by_name("nobody").await.unwrap(), None);
    assert_eq!(
        log(t, TENANT).await,
        [(
            AuditKind::UserChanged,
            "Ann".into(),
            "created with role operator".into()
        )]
    );
}

pub async fn a_users_name_is_taken_once_in_any_case(t: &TestStore) {
    made(t).await;
    let elsewhere = t.tenant("elsewhere").await;
    let again = NewUser {
        name: "ANN".into(),
        ..ann(elsewhere)
    };
    let refused = t.store.create_user(again, &admin()).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    assert_eq!(t.store.all_users().await.unwrap().len(), 1);
    assert!(t.store.users(elsewhere).await.unwrap().is_empty());
}

pub async fn a_role_is_per_tenant(t: &TestStore) {
    let user = made(t).await;
    let elsewhere = t.tenant("elsewhere").await;
    assert_eq!(user.role_in(elsewhere), None);
    let given = t
        .store
        .set_role(user.id, elsewhere, Some(Role::Admin), &admin())
        .await;
    assert!(given.unwrap());
    let user = t.store.user(user.id).await.unwrap().unwrap();
    assert_eq!(user.role_in(TENANT), Some(Role::Operator));
    assert_eq!(user.role_in(elsewhere), Some(Role::Admin));
    assert_eq!(
        t.store.users(elsewhere).await.unwrap(),
        std::slice::from_ref(&user)
    );
    assert!(
        t.store
            .set_role(user.id, elsewhere, None, &admin())
            .await
            .unwrap()
    );
    assert!(t.store.users(elsewhere).await.unwrap().is_empty());
    assert_eq!(
        log(t, elsewhere).await[1..],
        [
            (AuditKind::UserChanged, "Ann".into(), "role admin".into()),
            (AuditKind::UserChanged, "Ann".into(), "no role any more".into())
        ]
    );
    let nobody = domain::UserId(999);
    assert!(
        !t.store
            .set_role(nobody, TENANT, Some(Role::Admin), &admin())
            .await
            .unwrap()
    );
}

pub async fn who_runs_the_installation_looks_into_every_tenant(t: &TestStore) {
    let ops = NewUser {
        role: Role::Ops,
        ..ann(TENANT)
    };
    let ops = t.store.create_user(ops, &admin()).await.unwrap();
    let elsewhere = t.tenant("elsewhere").await;
    assert_eq!(ops.role_in(elsewhere), Some(Role::Ops));
}

pub async fn a_session_is_found_until_it_ends(t: &TestStore) {
    let user = made(t).await;
    let hash = signed_in(t, &user, 1).await;
    let (session, whose) = t.store.session(&hash).await.unwrap().unwrap();
    assert_eq!(
        (session.user, session.tenant, session.csrf.as_str()),
        (user.id, TENANT, "secret")
    );
    assert_eq!(
        (session.created_at, session.expires_at),
        (t.clock.now(), t.clock.now() + HOUR)
    );
    assert_eq!(whose.last_sign_in_at, Some(t.clock.now()));
    assert_eq!(t.store.session(&[2; 32]).await.unwrap(), None);
    assert!(t.store.end_session(&hash).await.unwrap());
    assert!(!t.store.end_session(&hash).await.unwrap());
    assert_eq!(t.store.session(&hash).await.unwrap(), None);
    let kinds: Vec<_> = log(t, TENANT).await.into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(
        kinds,
        [AuditKind::UserChanged, AuditKind::SignedIn, AuditKind::SignedOut]
    );
}

pub async fn a_session_expires_unless_it_is_renewed(t: &TestStore) {
    let user = made(t).await;
    let (kept, left) = (signed_in(t, &user, 1).await, signed_in(t, &user, 2).await);
    t.clock.advance(HOUR / 2);
    assert!(t.store.renew_session(&kept, HOUR).await.unwrap());
    t.clock.advance(HOUR / 2);
    assert!(t.store.session(&kept).await.unwrap().is_some());
    assert_eq!(t.store.session(&left).await.unwrap(), None);
    assert!(
        !t.store.renew_session(&left, HOUR).await.unwrap(),
        "it is too late"
    );
    signed_in(t, &user, 3).await;
    assert!(
        !t.store.end_session(&left).await.unwrap(),
        "a sign-in clears it away"
    );
}

pub async fn a_session_looks_at_the_tenant_it_chose(t: &TestStore) {
    let user = made(t).await;
    let hash = signed_in(t, &user, 1).await;
    let elsewhere = t.tenant("elsewhere").await;
    assert!(t.store.choose_tenant(&hash, elsewhere).await.unwrap());
    let (session, _) = t.store.session(&hash).await.unwrap().unwrap();
    assert_eq!(session.tenant, elsewhere);
    assert!(!t.store.choose_tenant(&[9; 32], elsewhere).await.unwrap());
}

pub async fn a_new_password_ends_every_session(t: &TestStore) {
    let user = made(t).await;
    let hash = signed_in(t, &user, 1).await;
    let fresh = PasswordHash("$argon2id$y".into());
    assert!(t.store.set_password(user.id, &fresh, &admin()).await.unwrap());
    assert_eq!(t.store.session(&hash).await.unwrap(), None);
    let user = t.store.user(user.id).await.unwrap().unwrap();
    assert_eq!(user.password, Some(fresh.clone()));
    assert!(!format!("{user:?}").contains("argon2id"), "a hash is not printed");
    assert!(
        !t.store
            .set_password(domain::UserId(99), &fresh, &admin())
            .await
            .unwrap()
    );
}

pub async fn who_is_kept_out_has_no_session(t: &TestStore) {
    let user = made(t).await;
    let hash = signed_in(t, &user, 1).await;
    assert!(t.store.set_disabled(user.id, true, &admin()).await.unwrap());
    assert!(!t.store.set_disabled(user.id, true, &admin()).await.unwrap());
    assert_eq!(t.store.session(&hash).await.unwrap(), None);
    // Even one that a race left behind.
    let hash = signed_in(t, &user, 2).await;
    assert_eq!(t.store.session(&hash).await.unwrap(), None);
    assert!(t.store.set_disabled(user.id, false, &admin()).await.unwrap());
    assert!(t.store.session(&hash).await.unwrap().is_some());
}

pub async fn a_link_works_once_and_not_for_ever(t: &TestStore) {
    let user = made(t).await;
    link(t, &user, 1).await;
    link(t, &user, 2).await;
    assert_eq!(t.store.use_link(&[1; 32]).await.unwrap(), Some(user.id));
    assert_eq!(t.store.use_link(&[1; 32]).await.unwrap(), None);
    t.clock.advance(HOUR);
    assert_eq!(t.store.use_link(&[2; 32]).await.unwrap(), None);
    assert_eq!(t.store.use_link(&[3; 32]).await.unwrap(), None);
}

async fn link(t: &TestStore, user: &User, n: u8) {
    t.store
        .create_link(&[n; 32], user.id, HOUR, &admin())
        .await
        .unwrap();
}

pub async fn a_link_is_on_record_with_who_made_it(t: &TestStore) {
    let user = made(t).await;
    let boss = Actor::new("user:boss");
    t.store.create_link(&[1; 32], user.id, HOUR, &boss).await.unwrap();
    let page = Page {
        limit: 50,
        after: None,
    };
    let page = t
        .store
        .audit(TENANT, &AuditFilter::default(), page)
        .await
        .unwrap();
    let entry = page
        .rows
        .iter()
        .find(|e| e.actor == boss.as_str())
        .expect("the maker");
    assert_eq!(
        (entry.kind, entry.target.as_deref(), entry.detail.as_deref()),
        (AuditKind::UserChanged, Some("Ann"), Some("sign-in link made"))
    );
}

pub async fn links_end_with_a_new_password_with_the_last_role_and_when_somebody_is_kept_out(t: &TestStore) {
    let user = made(t).await;
    let elsewhere = t.tenant("elsewhere").await;
    let store = &t.store;
    let give = async |tenant| {
        store
            .set_role(user.id, tenant, Some(Role::Viewer), &admin())
            .await
            .unwrap();
    };
    let take = async |tenant| {
        store.set_role(user.id, tenant, None, &admin()).await.unwrap();
    };
    link(t, &user, 1).await;
    let fresh = PasswordHash("$argon2id$y".into());
    store.set_password(user.id, &fresh, &admin()).await.unwrap();
    assert_eq!(store.use_link(&[1; 32]).await.unwrap(), None, "a new password");

    link(t, &user, 2).await;
    store.set_disabled(user.id, true, &admin()).await.unwrap();
    store.set_disabled(user.id, false, &admin()).await.unwrap();
    assert_eq!(store.use_link(&[2; 32]).await.unwrap(), None, "kept out");

    give(elsewhere).await;
    link(t, &user, 3).await;
    let session = signed_in(t, &user, 3).await;
    take(elsewhere).await;
    assert!(
        store.session(&session).await.unwrap().is_some(),
        "one role is left"
    );
    take(TENANT).await;
    give(TENANT).await;
    assert_eq!(store.use_link(&[3; 32]).await.unwrap(), None, "the last role");
    assert_eq!(store.session(&session).await.unwrap(), None, "the last role");
}

pub async fn a_refused_sign_in_is_on_record(t: &TestStore) {
    let user = made(t).await;
    t.store.sign_in_refused(&user, "from 192.0.2.1").await.unwrap();
    let (kind, target, detail) = log(t, TENANT).await.pop().unwrap();
    assert_eq!(
        (kind, target.as_str(), detail.as_str()),
        (AuditKind::SignInRefused, "Ann", "from 192.0.2.1")
    );
    assert_eq!(user.actor(), Actor::new("user:Ann"));
}

pub async fn views_are_kept_per_user_and_tenant_up_to_a_bound(t: &TestStore) {
    let ann = made(t).await.id;
    let view = |name: &str, query: &str| SavedFilter {
        name: name.into(),
        query: query.into(),
    };
    t.store
        .save_filter(ann, TENANT, view("night", "status=Parked"))
        .await
        .unwrap();
    t.store
        .save_filter(ann, TENANT, view("night", "status=Pending"))
        .await
        .unwrap();
    let other = t.tenant("other").await;
    assert_eq!(
        t.store.saved_filters(ann, TENANT).await.unwrap(),
        [view("night", "status=Pending")]
    );
    assert_eq!(t.store.saved_filters(ann, other).await.unwrap(), []);
    for n in 1..MAX_SAVED_FILTERS {
        t.store
            .save_filter(ann, TENANT, view(&format!("view {n}"), ""))
            .await
            .unwrap();
    }
    let refused = t
        .store
        .save_filter(ann, TENANT, view("one more", ""))
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::Conflict(_)), "{refused}");
    t.store.save_filter(ann, TENANT, view("night", "")).await.unwrap();
    assert!(t.store.forget_filter(ann, TENANT, "night").await.unwrap());
    assert!(!t.store.forget_filter(ann, TENANT, "night").await.unwrap());
    t.store
        .save_filter(ann, TENANT, view("one more", ""))
        .await
        .unwrap();
}
