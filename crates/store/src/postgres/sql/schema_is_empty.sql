select to_regclass('refinery_schema_history') is null
