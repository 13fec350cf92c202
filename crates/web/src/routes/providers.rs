//! Providers: set up, tried, held.

use super::PAGING;
use crate::{
    access::Access::{Administer, Operate, Read},
    api::{callbacks, channels, providers},
    dto::{
        captured::CapturedView,
        channel::{ChannelRequest, ChannelView},
        provider::{
            HoldRequest, KindView, ProviderRequest, ProviderView, TestAnswer, TestRequest, TriedAnswer,
        },
    },
    endpoint::{Endpoint, delete, get, post, put},
    problem::Code::{Conflict, TooMany},
};

pub(super) fn routes() -> Vec<Endpoint> {
    let parts = [setting_up(), orders(), running()];
    parts.into_iter().flatten().collect()
}

/// Who takes a type's notifications, and who takes over.
fn orders() -> Vec<Endpoint> {
    vec![
        get(
            "/api/channels",
            Read,
            "The order of each type's providers, and whether the next one takes over",
            channels::list,
        )
        .params(&PAGING)
        .pages::<ChannelView>("A page"),
        put(
            "/api/channels/{type}",
            Administer,
            "Let the next provider of a type take over when one is in trouble, or not",
            channels::put,
        )
        .body::<ChannelRequest>()
        .answers::<ChannelView>(200, "The channel"),
    ]
}

fn setting_up() -> Vec<Endpoint> {
    vec![
        get(
            "/api/provider-kinds",
            Read,
            "Kinds of provider and their settings",
            providers::kinds,
        )
        .pages::<KindView>("All of them"),
        get("/api/providers", Read, "Providers", providers::list)
            .params(&PAGING)
            .pages::<ProviderView>("A page"),
        post(
            "/api/providers",
            Administer,
            "Set a provider up",
            providers::create,
        )
        .body::<ProviderRequest>()
        .answers::<ProviderView>(201, "The provider")
        .refuses(&[Conflict]),
        get("/api/providers/{id}", Read, "One provider", providers::get)
            .answers::<ProviderView>(200, "The provider"),
        put(
            "/api/providers/{id}",
            Administer,
            "Replace a provider's settings",
            providers::replace,
        )
        .body::<ProviderRequest>()
        .answers::<ProviderView>(200, "The provider")
        .refuses(&[Conflict]),
        delete(
            "/api/providers/{id}",
            Administer,
            "Remove a provider that nothing waits for",
            providers::delete,
        )
        .empty("It is gone")
        .refuses(&[Conflict]),
    ]
}

fn running() -> Vec<Endpoint> {
    vec![
        post(
            "/api/providers/{id}/test",
            Operate,
            "Send one test message now",
            providers::test,
        )
        .optional_body::<TestRequest>()
        .refuses(&[TooMany])
        .answers::<TestAnswer>(200, "What the far end said"),
        post(
            "/api/providers/{id}/callback",
            Administer,
            "Make a new secret address for receipts; the one before stops working",
            callbacks::create,
        )
        .refuses(&[Conflict])
        .answers::<callbacks::CallbackView>(200, "The address, shown this once"),
        get(
            "/api/providers/{id}/captured",
            Read,
            "What a capture provider kept on this node, newest first",
            providers::captured,
        )
        .params(&PAGING)
        .pages::<CapturedView>("A page")
        .refuses(&[Conflict]),
        post(
            "/api/providers/{id}/hold",
            Operate,
            "Stop a provider; its notifications wait",
            providers::hold,
        )
        .optional_body::<HoldRequest>()
        .refuses(&[Conflict])
        .answers::<ProviderView>(200, "The provider"),
        post(
            "/api/providers/{id}/try",
            Operate,
            "Try a provider now: a pause ends, a held one is probed, what waits for another attempt is due",
            providers::try_now,
        )
        .refuses(&[Conflict])
        .answers::<TriedAnswer>(200, "How much was moved"),
        post(
            "/api/providers/{id}/resume",
            Operate,
            "Let a held provider go on; one that is switched off goes on when it is switched on",
            providers::resume,
        )
        .refuses(&[Conflict])
        .answers::<ProviderView>(200, "The provider"),
    ]
}
