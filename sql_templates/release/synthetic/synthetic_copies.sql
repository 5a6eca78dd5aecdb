{# Rows of the synthetic table (s) that equal a row of the original (d) or holdout (h) in all columns, and, with `near`, in all but
   one: each column in its turn is left out. Of a distinct row, d, s and h say how often each table has it. #}
{% import "release/synthetic/_stacked.sql" as rows %}
{% set columns = sides[0].columns %}
WITH alike AS (
    {{ rows.counted(sides) }}
){% if near %},
nearby AS (
    SELECT
        d, s, h{% for x in ("d", "h") %},
        CASE WHEN {% for left_out in columns %}{% set out = loop.index %}MAX(CASE WHEN {{ x }} > 0 THEN 1 ELSE 0 END) OVER (PARTITION BY {% for _ in columns %}{% if loop.index != out %}c{{ loop.index }}{{ ", " if not (loop.last or (loop.index == columns | length - 1 and out == columns | length)) }}{% endif %}{% endfor %}) = 1{{ " OR " if not loop.last }}{% endfor %} THEN 1 ELSE 0 END AS {{ x }}_near{% endfor %}

    FROM alike
)
{% endif %}
SELECT
    {% for x in ("d", "h") %}
    CAST(COALESCE(SUM(CASE WHEN {{ x }} > 0 THEN s END), 0) AS BIGINT) AS {{ x }}_copies,
    CAST(COALESCE(SUM(CASE WHEN {{ x }} = 1 THEN s END), 0) AS BIGINT) AS {{ x }}_copies_of_unique,
    CAST(COALESCE(SUM(CASE WHEN s > 0 THEN {{ x }} END), 0) AS BIGINT) AS {{ x }}_copied,
    {% if near %}
    CAST(COALESCE(SUM(CASE WHEN {{ x }} = 0 AND {{ x }}_near = 1 THEN s END), 0) AS BIGINT) AS {{ x }}_near,
    {% endif %}
    {% endfor %}
    CAST(COALESCE(SUM(CASE WHEN d < h THEN d ELSE h END), 0) AS BIGINT) AS shared
FROM {{ "nearby" if near else "alike" }}
