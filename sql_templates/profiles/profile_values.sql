{# What the values of each column look like, one row a column; only counts leave the database. NULL is a group of its
   own in group sizes, and no value in everything else. Without texts nothing is asked of shapes, which take half of the
   time in which the statement is planned. #}
{% import "profiles/_profile.sql" as parts with context %}
{% set texts = columns | selectattr("text") | list %}
WITH {{ parts.target(source, columns, share, first) }},
{{ parts.value_groups(columns) }},
spelled AS (
    SELECT
        column_number,
        n,
        {{ parts.by_column(columns, "any", "CASE WHEN ? IS NULL THEN 0 ELSE 1 END", "INTEGER") }} AS filled,
        {{ parts.by_column(columns, "text", "CAST(? AS VARCHAR)", "VARCHAR") }} AS spelling,
        {{ parts.by_column(columns, "fraction", "CASE WHEN " ~ parts.is_whole() ~ " THEN 1 ELSE 0 END", "INTEGER") }} AS whole,
        {{ parts.by_column(columns, "whole", "CAST(? AS DOUBLE)", "DOUBLE") }} AS whole_number
    FROM value_groups
),
shaped AS (
    SELECT
        column_number, n, filled, whole, whole_number, spelling,
        LOWER(TRIM(REGEXP_REPLACE(spelling, '[[:space:]]+', ' ', 'g'))) AS folded,
        LENGTH(spelling) AS characters,
        LENGTH(spelling) - LENGTH(REPLACE(spelling, ' ', '')) AS spaces
    FROM spelled
){% if texts %},
recognised AS (
    SELECT
        *,
        CASE
            WHEN spelling IS NULL THEN NULL
            WHEN folded IN ('', '?', '-', '--', '.', 'na', 'n/a', 'nan', 'null', 'nil', 'none', 'missing', 'unknown') THEN 'missing'
            WHEN {{ parts.has("^[^@[:space:]]+@[^@[:space:]]+[.][A-Za-z]{2,}$") }} THEN 'email'
            WHEN {{ parts.has("^([a-z]+://|www[.])[^[:space:]]+$") }} THEN 'url'
            WHEN {{ parts.has("^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$") }} THEN 'uuid'
            WHEN {{ parts.has("^[0-9]{1,3}([.][0-9]{1,3}){3}$") }} THEN 'ip_address'
            WHEN {{ parts.has("^[0-9A-Fa-f]{0,4}(:[0-9A-Fa-f]{0,4}){3,7}$") }} THEN 'ip_address'
            WHEN {{ parts.has("^[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}([T ].*)?$") }} THEN 'date'
            WHEN {{ parts.has("^[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2})([T ].*)?$") }} THEN 'date'
            WHEN {{ parts.has("^[0-9]{3}-[0-9]{2}-[0-9]{4}$") }} THEN 'national_id'
            WHEN {{ parts.has("^[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?$") }} THEN 'iban'
            WHEN {{ parts.has("^[0-9]{4}([ -]?[0-9]{4}){3}$") }} THEN 'card_number'
            WHEN {{ parts.has("^[+-]?[0-9]+([.,][0-9]+)?$") }} AND NOT {{ parts.has("^[+0][0-9]{8,14}$") }} THEN 'number'
            WHEN {{ parts.has("^([+]|[(]?0|[(]?[0-9]{2,4}[ )/.-])[0-9 ()/.-]{6,20}$") }} THEN 'phone'
            WHEN characters >= 40 AND spaces >= 5 THEN 'free_text'
            WHEN {{ parts.has("^" ~ parts.capitalised() ~ "( " ~ parts.capitalised() ~ "){1,3}$") }} THEN 'capitalised_words'
            ELSE 'other'
        END AS shape
    FROM shaped
)
{% endif %}
SELECT
    column_number,
    SUM(n) AS rows_looked_at,
    SUM(n * filled) AS filled_rows,
    SUM(filled) AS distinct_values,
    MIN(n) AS smallest_group,
    SUM(CASE WHEN n < 5 THEN n ELSE 0 END) AS rows_below_5,
    SUM(CASE WHEN n = 1 THEN 1 ELSE 0 END) AS unique_rows,
    SUM(CASE WHEN n = 1 THEN filled ELSE 0 END) AS unique_values,
    SUM(n * LN(CAST(n AS DOUBLE))) AS count_log_count,
    SUM(CAST(n AS DOUBLE) * (n - 1)) AS pairs,
    MIN(characters) AS shortest,
    MAX(characters) AS longest,
    SUM(n * characters) AS all_characters,
    COUNT(DISTINCT folded) AS folded_values,
    SUM(n * whole) AS whole_rows,
    MAX(whole_number) - MIN(whole_number) AS width
{% for shape in shapes %}
    , {% if texts %}SUM(CASE WHEN shape = '{{ shape }}' THEN n ELSE 0 END){% else %}0{% endif %} AS {{ shape }}_rows
{% endfor %}
FROM {{ 'recognised' if texts else 'shaped' }}
GROUP BY column_number
ORDER BY column_number
