//! Templates: saved, versions, previews.

use super::PAGING;
use crate::{
    access::Access::{Administer, Operate, Read},
    api::{template_previews, templates},
    dto::{
        template::{
            TemplateRequest, TemplateRowView, TemplateSettingsView, TemplateVersionView, TemplateView,
        },
        template_preview::{
            PreviewAnswer, PreviewRequest, TemplateTestAnswer, TemplateTestRequest, UnsavedPreviewRequest,
        },
    },
    endpoint::{Endpoint, delete, get, post, put},
    problem::Code::Conflict,
};

pub(super) fn routes() -> Vec<Endpoint> {
    let parts = [saving(), looking()];
    parts.into_iter().flatten().collect()
}

fn saving() -> Vec<Endpoint> {
    vec![
        get("/api/message-templates", Read, "Templates", templates::list)
            .params(&[
                ("eventType", "of this event type"),
                ("channel", "Email, WhatsApp, …"),
                ("active", "true or false"),
                ("deleted", "true: those that were deleted"),
            ])
            .params(&PAGING)
            .pages::<TemplateRowView>("A page, without what they say"),
        post(
            "/api/message-templates",
            Administer,
            "Make a template",
            templates::create,
        )
        .body::<TemplateRequest>()
        .answers::<TemplateView>(201, "The template, and what is odd about it")
        .refuses(&[Conflict]),
        get(
            "/api/message-templates/{id}",
            Read,
            "One template, also one that was deleted",
            templates::get,
        )
        .answers::<TemplateView>(200, "The template"),
        put(
            "/api/message-templates/{id}",
            Administer,
            "Save a new version of a template",
            templates::replace,
        )
        .body::<TemplateRequest>()
        .answers::<TemplateView>(200, "The template, and what is odd about it")
        .refuses(&[Conflict]),
        delete(
            "/api/message-templates/{id}",
            Administer,
            "Remove a template; its versions stay readable",
            templates::delete,
        )
        .empty("It serves nothing any more"),
        get(
            "/api/message-templates/{id}/versions",
            Read,
            "The versions of a template",
            templates::versions,
        )
        .pages::<TemplateVersionView>("Newest first, at most 1,000"),
        get(
            "/api/message-templates/{id}/versions/{version}",
            Read,
            "A template as it was in a version",
            templates::version,
        )
        .answers::<TemplateView>(200, "The template"),
    ]
}

fn looking() -> Vec<Endpoint> {
    vec![
        post(
            "/api/message-templates/preview",
            Read,
            "Fill in a template that is not saved",
            template_previews::unsaved,
        )
        .body::<UnsavedPreviewRequest>()
        .answers::<PreviewAnswer>(200, "What a message would say"),
        post(
            "/api/message-templates/{id}/preview",
            Read,
            "Fill in a template",
            template_previews::saved,
        )
        .optional_body::<PreviewRequest>()
        .answers::<PreviewAnswer>(200, "What a message would say"),
        post(
            "/api/message-templates/{id}/test",
            Operate,
            "Send one message of a template to an address of one's own",
            template_previews::test,
        )
        .optional_body::<TemplateTestRequest>()
        .answers::<TemplateTestAnswer>(202, "It is on its way"),
        get(
            "/api/message-templates/settings",
            Read,
            "How templates show dates where they do not say it themselves",
            templates::settings,
        )
        .answers::<TemplateSettingsView>(200, "The settings"),
        put(
            "/api/message-templates/settings",
            Administer,
            "Change that",
            templates::put_settings,
        )
        .body::<TemplateSettingsView>()
        .answers::<TemplateSettingsView>(200, "The settings"),
    ]
}
