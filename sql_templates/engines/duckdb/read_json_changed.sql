-- how many records of a JSON file are no objects; and which of its columns have a number that the column's type would change
{% from 'engines/duckdb/_exact.sql' import changed %}
{% from 'engines/duckdb/_json.sql' import numbers_as_texts %}
{% macro changed_inside(text, type) %}
len(list_filter(
    regexp_extract_all({{ text }}, '"number:(-?[0-9][-+.0-9eE]*)"', 1),
    lambda t: {% if 'DOUBLE' in type or 'JSON' in type %}{{ changed('t', 'DOUBLE') }}{% else %}regexp_matches(t, '[.eE]'){% endif %})) > 0
{%- endmacro %}
WITH records AS (
    SELECT {{ numbers_as_texts('json') }} AS texts, {{ numbers_as_texts('json', 'number:') }} AS marked, json FROM {{ source }}
),
fields AS (
    SELECT
        ltrim(CAST(json AS VARCHAR))[1] <> '{' AS is_alone
    {% for key, type, simple in columns %}
        , {{ 'json_extract_string(texts, ' ~ key ~ ')' if simple else 'CAST(json_extract(marked, ' ~ key ~ ') AS VARCHAR)' }} AS c{{ loop.index }}
    {% endfor %}
    FROM records
)
SELECT count(*) FILTER (WHERE is_alone)
{% for key, type, simple in columns %}
    , coalesce(bool_or({{ changed('c' ~ loop.index, type) if simple else changed_inside('c' ~ loop.index, type) }}), FALSE)
{% endfor %}
FROM fields
