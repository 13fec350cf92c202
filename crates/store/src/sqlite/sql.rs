//! The statements that no single job has for itself: the schema.

statements!(schema_history_exists, schema_version,);
