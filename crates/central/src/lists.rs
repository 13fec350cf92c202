//! Notification lists: who gets what is sent to a name. Resolved at delivery time, so a change counts at once.

use crate::{directory::Directory, wake::Wake};
use domain::{Actor, Channel, FieldError, Recipient, TenantId, address, submission::limit};
use std::{collections::HashSet, sync::Arc};
use store::{Signals, directory::List, signals::Signal};

#[derive(Debug, thiserror::Error)]
pub enum ListError {
    #[error("some fields are wrong")]
    Fields(Vec<FieldError>),
    #[error(transparent)]
    Store(#[from] store::Error),
}

#[derive(Debug, Clone)]
pub struct ListService {
    store: Arc<dyn store::Directory>,
    signals: Arc<dyn Signals>,
    directory: Arc<Directory>,
    wake: Arc<Wake>,
}

impl ListService {
    pub fn new(
        store: Arc<dyn store::Directory>,
        signals: Arc<dyn Signals>,
        directory: Arc<Directory>,
        wake: Arc<Wake>,
    ) -> Self {
        Self {
            store,
            signals,
            directory,
            wake,
        }
    }

    /// Creates the list or replaces it whole.
    pub async fn put(&self, tenant: TenantId, list: &List, actor: &Actor) -> Result<(), ListError> {
        let problems = problems(list, &[]);
        if !problems.is_empty() {
            return Err(ListError::Fields(problems));
        }
        self.store.put_list(tenant, list, actor).await?;
        Ok(self.changed().await?)
    }

    /// Creates the list. Answers whether there was none of that name.
    pub async fn create(&self, tenant: TenantId, list: &List, actor: &Actor) -> Result<bool, ListError> {
        let mut problems = problems(list, &[]);
        if problems.is_empty() && list.name.contains(char::is_control) {
            problems.push(FieldError::new("name", "must have printable characters only"));
        }
        if !problems.is_empty() {
            return Err(ListError::Fields(problems));
        }
        let created = self.store.create_list(tenant, list, actor).await?;
        self.changed().await?;
        Ok(created)
    }

    /// Changes a list that others may be changing too: `change` is given the list as it is, and again if somebody
    /// was faster. None: there is no such list.
    pub async fn change<T, E: From<ListError>>(
        &self,
        tenant: TenantId,
        name: &str,
        actor: &Actor,
        change: impl Fn(&mut List) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        loop {
            let Some(current) = self
                .store
                .list_by_name(tenant, name)
                .await
                .map_err(ListError::from)?
            else {
                return Ok(None);
            };
            let mut list = current.clone();
            let answer = change(&mut list)?;
            let problems = problems(&list, &current.recipients);
            if !problems.is_empty() {
                return Err(ListError::Fields(problems).into());
            }
            if self
                .store
                .change_list(tenant, &current, &list, actor)
                .await
                .map_err(ListError::from)?
            {
                self.changed().await.map_err(ListError::from)?;
                return Ok(Some(answer));
            }
        }
    }

    /// Answers whether there was one.
    pub async fn delete(&self, tenant: TenantId, name: &str, actor: &Actor) -> store::Result<bool> {
        let deleted = self.store.delete_list(tenant, name, actor).await?;
        self.changed().await?;
        Ok(deleted)
    }

    async fn changed(&self) -> store::Result<()> {
        self.directory.refresh().await?;
        self.wake.look();
        self.signals.announce(Signal::Directory);
        Ok(())
    }
}

/// An address that is on the list already is not checked again: it must not keep others from being changed.
fn problems(list: &List, known: &[Recipient]) -> Vec<FieldError> {
    let mut bad = vec![];
    if list.name.trim().is_empty() || list.name.chars().count() > limit::LIST_NAME {
        bad.push(FieldError::new(
            "name",
            format!("must have 1 to {} characters", limit::LIST_NAME),
        ));
    }
    let known: HashSet<_> = known.iter().map(|k| (k.address.as_str(), k.channel)).collect();
    let mut seen = HashSet::new();
    for (
        i,
        Recipient {
            address,
            channel,
            name,
            ..
        },
    ) in list.recipients.iter().enumerate()
    {
        let field = format!("recipients[{i}].address");
        if address.trim().is_empty()
            || address.chars().count() > limit::ADDRESS
            || address.contains(char::is_control)
        {
            bad.push(FieldError::new(
                &field,
                format!("must have 1 to {} printable characters", limit::ADDRESS),
            ));
        } else if !known.contains(&(address.as_str(), *channel))
            && let Some(problem) = address::problem(channel.unwrap_or(Channel::Email), address)
        {
            bad.push(FieldError::new(&field, problem));
        }
        if !seen.insert((address, channel)) {
            bad.push(FieldError::new(&field, "is on the list twice"));
        }
        if name
            .as_ref()
            .is_some_and(|n| n.chars().count() > limit::NAME || n.contains(char::is_control))
        {
            bad.push(FieldError::new(
                format!("recipients[{i}].name"),
                format!("must be at most {} printable characters", limit::NAME),
            ));
        }
    }
    bad
}
