//! `waypost demo`: everything in one process, in a temporary folder, with far ends that fail on purpose.
//!
//! Always true: what it shows goes through the same parts as `serve`: HTTP in, the store, the dispatcher, SMTP
//! and HTTP out over real sockets. It leaves nothing behind.

mod events;
mod far_ends;
mod north;
mod services;
mod setup;
mod sites;
mod tour;
mod traffic;
mod world;

use std::net::SocketAddr;
use tokio_util::sync::CancellationToken;
use world::World;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run the tour once, print what was sent where, and exit 0 only if every message ended as it should
    #[arg(long)]
    pub once: bool,
    /// Where the demo's central listens; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let stop = CancellationToken::new();
    crate::wiring::signals::watch(stop.clone())?;
    let mut world = World::start(args.listen).await?;
    // Whatever comes of it, what was started is stopped and the folder goes.
    let shown = stop.run_until_cancelled(show(&mut world, args.once)).await;
    Box::pin(world.stop()).await;
    match shown {
        Some(ended_well) => anyhow::ensure!(
            ended_well?,
            "not every message ended as it should; the table above says which"
        ),
        None if args.once => anyhow::bail!("interrupted before the tour was over"),
        None => println!("\nStopped."),
    }
    Ok(())
}

/// Answers whether every message ended as it should.
async fn show(world: &mut World, once: bool) -> anyhow::Result<bool> {
    setup::set_up(&world.client, &world.far_ends).await?;
    events::set_up(&world.client).await?;
    world.far_ends.misbehave();
    if once {
        return Ok(sites::tour(world).await? & events::tour(world).await? & tour::run(world).await?);
    }
    world.introduce();
    traffic::go_on(world).await?;
    Ok(true)
}
