//! The flags every command shares that talks to central.

use crate::exit::usage;
use anyhow::Context;
use client::{Client, ClientBuilder};
use std::path::PathBuf;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Central")]
pub struct Connect {
    /// Where central is
    #[arg(
        long,
        global = true,
        env = "WAYPOST_URL",
        default_value = "http://127.0.0.1:8080",
        hide_env_values = true
    )]
    pub url: String,
    /// A file with the API key; otherwise it is taken from WAYPOST_API_KEY
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "WAYPOST_API_KEY_FILE",
        hide_env_values = true
    )]
    pub api_key_file: Option<PathBuf>,
    /// A PEM file with the certificate authority of central, if it is not one the system trusts
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "WAYPOST_CA_FILE",
        hide_env_values = true
    )]
    pub ca_file: Option<PathBuf>,
    /// The tenant to act for; only keys of role ops have a choice
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "WAYPOST_TENANT",
        hide_env_values = true
    )]
    pub tenant: Option<String>,
}

/// The flags of commands that talk to a site's own agent.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Site agent")]
pub struct ConnectSite {
    /// Where the agent of this machine is; of two machines that are named for programs, the first
    #[arg(
        long,
        global = true,
        env = "WAYPOST_SITE_URL",
        default_value = client::site::DEFAULT_URL,
        hide_env_values = true
    )]
    pub site_url: String,
    /// A file with the agent's token; otherwise it is taken from WAYPOST_SITE_TOKEN
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "WAYPOST_SITE_TOKEN_FILE",
        hide_env_values = true
    )]
    pub site_token_file: Option<PathBuf>,
}

impl ConnectSite {
    pub fn site(&self) -> anyhow::Result<client::site::Site> {
        let token = match &self.site_token_file {
            Some(file) => std::fs::read_to_string(file)
                .with_context(|| format!("cannot read the token file {}", file.display()))?,
            None => std::env::var("WAYPOST_SITE_TOKEN").unwrap_or_default(),
        };
        let first = self.site_url.split(',').next().unwrap_or_default();
        Ok(client::site::Site::new(first.trim(), token.trim())?)
    }
}

impl Connect {
    /// A client with the key.
    pub fn client(&self) -> anyhow::Result<Client> {
        let key = self.key()?;
        if key.is_empty() {
            return Err(usage(
                "no API key: set WAYPOST_API_KEY (`waypost key create --role admin` makes one on the database itself)",
            ));
        }
        Ok(self.builder()?.api_key(key).build()?)
    }

    /// A client for what everybody may ask.
    pub fn anonymous(&self) -> anyhow::Result<Client> {
        Ok(self.builder()?.build()?)
    }

    fn builder(&self) -> anyhow::Result<ClientBuilder> {
        let mut builder = Client::builder(&self.url);
        if let Some(tenant) = &self.tenant {
            builder = builder.tenant(tenant);
        }
        if let Some(file) = &self.ca_file {
            let pem =
                std::fs::read(file).with_context(|| format!("cannot read the CA file {}", file.display()))?;
            builder = builder.ca_pem(pem);
        }
        Ok(builder)
    }

    fn key(&self) -> anyhow::Result<String> {
        let text = match &self.api_key_file {
            Some(file) => std::fs::read_to_string(file)
                .with_context(|| format!("cannot read the API key file {}", file.display()))?,
            None => std::env::var("WAYPOST_API_KEY").unwrap_or_default(),
        };
        Ok(text.trim().to_owned())
    }
}
