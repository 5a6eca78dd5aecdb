{# The histogram of the columns with a role as digests: each combination with its rows is one SHA-256, and digests are
   put together, in their order, by their first two letters. Texts are grouped, and not values, so that values which are
   equal and written differently (0 and -0) give the same digests in every run. A text begins with its length: no two
   combinations are written alike. #}
{% macro sha256(text) %}
{% if dialect == "postgres" %}SHA256(CONVERT_TO({{ text }}, 'UTF8'))
{%- elif dialect == "spark" %}SHA2({{ text }}, 256)
{%- else %}SHA256({{ text }})
{%- endif %}
{% endmacro %}
WITH target AS (
    SELECT
    {% for column in columns %}
        CAST({{ column }} AS TEXT) AS c{{ loop.index0 }}{{ "," if not loop.last }}
    {% endfor %}
    FROM {{ source }}
),
combinations AS (
    SELECT
    {% for _ in columns %}
        c{{ loop.index0 }},
    {% endfor %}
        COUNT(*) AS table_rows
    FROM target
    GROUP BY {% for _ in columns %}c{{ loop.index0 }}{{ ", " if not loop.last }}{% endfor %}

),
written AS (
    SELECT
        table_rows,
        CAST(table_rows AS TEXT)
    {% for _ in columns %}
        || CASE WHEN c{{ loop.index0 }} IS NULL THEN '-' ELSE CAST(LENGTH(c{{ loop.index0 }}) AS TEXT) || ':' || c{{ loop.index0 }} END
    {% endfor %}
        AS combination
    FROM combinations
),
digested AS (
    SELECT table_rows, {{ sha256("combination") }} AS digest
    FROM written
)
SELECT
    SUBSTR(digest, 1, 2) AS bucket,
    COUNT(*) AS combinations,
    CAST(SUM(table_rows) AS BIGINT) AS table_rows,
{% if dialect == "spark" %}
    {{ sha256("ARRAY_JOIN(SORT_ARRAY(COLLECT_LIST(digest)), '')") }} AS digests
{% elif dialect == "postgres" %}
    {{ sha256("STRING_AGG(digest, '' ORDER BY digest COLLATE \"C\")") }} AS digests
{% else %}
    {{ sha256("STRING_AGG(digest, '' ORDER BY digest)") }} AS digests
{% endif %}
FROM digested
GROUP BY SUBSTR(digest, 1, 2)
ORDER BY bucket
