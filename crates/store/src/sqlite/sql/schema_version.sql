select max(version) from refinery_schema_history
