{# The columns that can be read, for completion; a catalog with more of them is completed in part. #}
SELECT table_schema AS schema_name, table_name, column_name
FROM information_schema.columns
WHERE table_schema NOT IN ('information_schema', 'pg_catalog')
{% if dialect == 'duckdb' %}
    AND table_catalog NOT IN ('memory', 'system', 'temp')
{% endif %}
ORDER BY table_schema, table_name, ordinal_position
LIMIT {{ limit }}
