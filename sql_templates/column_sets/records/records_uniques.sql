{# A batch of minimal sample uniques, to be kept. #}
{% import "column_sets/records/_records_uniques.sql" as uniques with context %}
WITH candidates AS (
    {{ uniques.uniques(sets, source, "rowid", true) }}
)
{% if tables %}
, {{ uniques.kept_tables(tables) }}
{{ uniques.minimal("candidates", "found", words) }}
{% else %}
SELECT * FROM candidates
{% endif %}
