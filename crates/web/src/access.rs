//! Who may do what. A route names one of these; the roles behind each are written down here and nowhere else.

use store::directory::Role;

/// What a route demands of a key, from nothing to everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// No key at all: health, metrics, documentation.
    Open,
    /// Hand notifications in.
    Submit,
    /// Ask how one notification stands. A producer sees only what it sent.
    Status,
    /// Look at everything of the tenant but its keys and users.
    Read,
    /// Send parked notifications round again.
    Replay,
    /// Act on notifications and providers.
    Operate,
    /// Change lists, providers, keys and users.
    Administer,
    /// Create and list tenants.
    Tenants,
}

impl Access {
    pub const ALL: [Access; 8] = [
        Access::Open,
        Access::Submit,
        Access::Status,
        Access::Read,
        Access::Replay,
        Access::Operate,
        Access::Administer,
        Access::Tenants,
    ];

    /// The roles that are let in, the least first. `site` keys speak over the link, not over HTTP.
    pub fn roles(self) -> &'static [Role] {
        use Role::{Admin, Operator, Ops, Producer, Viewer};
        match self {
            Access::Open => &[],
            Access::Submit => &[Producer, Operator, Admin],
            Access::Status => &[Producer, Viewer, Operator, Admin, Ops],
            Access::Read => &[Viewer, Operator, Admin, Ops],
            Access::Replay => &[Operator, Admin, Ops],
            Access::Operate => &[Operator, Admin],
            Access::Administer => &[Admin],
            Access::Tenants => &[Ops],
        }
    }

    pub fn allows(self, role: Role) -> bool {
        self.roles().contains(&role)
    }

    /// "viewer, operator, admin or ops"
    pub fn in_words(self) -> String {
        let names: Vec<_> = self.roles().iter().map(|role| role.as_str()).collect();
        match names.as_slice() {
            [] => "no key".into(),
            [one] => (*one).into(),
            [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_admin_may_what_an_operator_may_and_an_operator_what_a_viewer_may() {
        for access in Access::ALL {
            assert!(
                !access.allows(Role::Viewer) || access.allows(Role::Operator),
                "{access:?}"
            );
            assert!(
                !access.allows(Role::Operator) || access.allows(Role::Admin),
                "{access:?}"
            );
            assert!(!access.allows(Role::Site), "{access:?}");
        }
    }

    #[test]
    fn roles_read_as_a_sentence() {
        assert_eq!(Access::Read.in_words(), "viewer, operator, admin or ops");
        assert_eq!(Access::Tenants.in_words(), "ops");
    }
}
