//! The parts of the demo, wired as `serve` wires them, on an embedded database in a temporary folder.

use super::{far_ends::FarEnds, north, services, sites::Sites};
use anyhow::Context;
use central::{Central, Settings, secrets::Sealer, users::UserDraft};
use client::Client;
use delivery::{Outside, Registry, capture::Captured};
use domain::{Actor, Clock, SystemClock, TenantId};
use std::{
    net::{SocketAddr, TcpListener},
    sync::Arc,
};
use store::{Store, directory::Role, sqlite::SqliteStore};
use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use web::WebState;

pub struct World {
    pub client: Client,
    pub far_ends: FarEnds,
    pub sites: Sites,
    pub address: SocketAddr,
    pub key: String,
    /// Signs in to the console, once.
    pub link: String,
    store: Arc<dyn Store>,
    stop: CancellationToken,
    loops: TaskTracker,
    server: JoinHandle<std::io::Result<()>>,
    /// Removed when the world goes.
    _folder: tempfile::TempDir,
}

impl World {
    pub async fn start(listen: SocketAddr) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(listen).with_context(|| {
            format!("cannot listen on {listen}; try --listen 127.0.0.1:0 for a free port")
        })?;
        let address = listener.local_addr()?;
        let folder = tempfile::Builder::new().prefix("waypost-demo-").tempdir()?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(
            &folder.path().join("waypost.db"),
            clock.clone(),
        )?);
        let loopback = vec!["127.0.0.0/8".parse()?, "::1/128".parse()?];
        let outside = Outside::new(clock.clone())
            .allowing(loopback)
            .with_message_id_domain("demo.waypost.example");
        let registry = Registry::standard(Arc::new(outside), Captured::default());
        let central = Central::new(
            store.clone(),
            registry,
            Sealer::ephemeral(),
            clock,
            Settings {
                site_lease: north::LEASE,
                ..Settings::named("demo")
            },
        );
        let minted = central
            .keys
            .create(TenantId::DEFAULT, "demo", Role::Admin, &Actor::system())
            .await?;
        let person = UserDraft {
            name: "demo".into(),
            password: None,
            tenant: TenantId::DEFAULT,
            role: Role::Admin,
        };
        let person = central.users.create(person, &Actor::system()).await?;
        let link = central.users.link(person.id, &Actor::system()).await?;
        let stop = CancellationToken::new();
        let loops = central.start(&stop);
        let far_ends = FarEnds::start().await?;
        let sites = Sites::start(&central, folder.path(), &far_ends.http).await?;
        let router = web::router(WebState::new(central).with_stop(stop.clone()));
        let server = tokio::spawn(web::serve(listener, None, router, stop.clone()));
        Ok(Self {
            client: Client::new(&format!("http://{address}"), minted.text.clone())?,
            far_ends,
            sites,
            address,
            key: minted.text,
            link: format!("http://{address}/sign-in/link/{link}"),
            store,
            stop,
            loops,
            server,
            _folder: folder,
        })
    }

    /// What a person can do next.
    pub fn introduce(&self) {
        let Self {
            address, key, link, ..
        } = self;
        println!("Waypost demo: one process, a temporary folder, far ends that fail now and then.\n");
        println!("  console  {link}");
        println!("           (signs you in once; after that http://{address}/)\n");
        println!("  API    http://{address}/api      its description: http://{address}/docs");
        println!(
            "  mail   caught by an SMTP server on {}",
            self.far_ends.mail.address()
        );
        println!(
            "  hooks  received on {}, which also plays {} chat, push, SMS and WhatsApp services",
            self.far_ends.http.url("/"),
            services::kinds().count()
        );
        println!(
            "  sites  plant-north on {} and {} (one of its two machines is switched off now and then),",
            self.sites.machines.urls()[0],
            self.sites.machines.urls()[1]
        );
        println!(
            "         plant-south on {} (its link goes down now and then)\n",
            self.sites.south.url()
        );
        println!("In another terminal:\n");
        println!("  export WAYPOST_URL=http://{address} WAYPOST_API_KEY={key}");
        println!("  waypost tail                         watch notifications as they change");
        println!("  waypost list --status Parked         see what could not be delivered, and why");
        println!("  waypost notify --to ops --subject 'Tank 4 is full' --body 'Level 98 %' --wait");
        println!("  waypost sites                        which sites there are, and what waits there");
        println!("  waypost doctor                       what is stuck, and what to do about it\n");
        println!("Ctrl-C ends it; nothing is left behind.\n");
    }

    pub async fn stop(self) {
        self.sites.stop().await;
        self.stop.cancel();
        self.loops.wait().await;
        let _ = self.server.await;
        self.far_ends.stop().await;
        self.store.close().await;
    }
}
