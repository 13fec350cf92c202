//! The statements of this job, named like their files.

statements!(
    event_templates,
    template,
    template_count,
    template_create,
    template_delete,
    template_save,
    template_settings,
    template_settings_put,
    template_version_add,
    template_versions,
    templates,
);
