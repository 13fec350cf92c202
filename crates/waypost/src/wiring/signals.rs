//! Signals: the first one asks the process to end in order, the second ends it.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancels `stop` on the first SIGTERM or SIGINT and ends the process at once on the second.
pub fn watch(stop: CancellationToken) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        let name = next(&mut terminate, &mut interrupt).await;
        tracing::info!(
            signal = name,
            "stopping: no new work, what is under way may finish; once more ends it at once"
        );
        stop.cancel();
        let name = next(&mut terminate, &mut interrupt).await;
        tracing::warn!(
            signal = name,
            "ending at once; what was under way counts as interrupted"
        );
        std::process::exit(1);
    });
    Ok(())
}

async fn next(terminate: &mut Signal, interrupt: &mut Signal) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}
