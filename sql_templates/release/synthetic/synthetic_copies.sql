{# Rows of the synthetic table (s) that equal a row of the original (d) or holdout (h) in all columns, and, with `near`, in all but
   one: each column in its turn is left out, and windows say whether any row of the rest is theirs. Of a distinct row, d, s and h
   say how often each table has it. `unlike` = of d and h, the kept rows that equal none of theirs in all columns but one, where
   these were found step by step (synthetic_unlike.sql) among the kept rows `alike`; empty = windows find them. #}
{% import "release/synthetic/_stacked.sql" as rows %}
{% set columns = sides[0].columns %}
{% set people = ["d", "h"][:sides | length - 1] %}
WITH alike AS (
    {% if unlike %}
    SELECT * FROM {{ alike }}
    {% else %}
    {{ rows.counted(sides) }}
    {% endif %}
){% if near %},
nearby AS (
    SELECT
        s{% for x in people %},
        {{ x }},
        {% for _ in columns %}
        {% set left_out = loop.index %}
        MAX(CASE WHEN {{ x }} > 0 THEN 1 ELSE 0 END) OVER (PARTITION BY {% for place in range(1, columns | length + 1) if place != left_out %}c{{ place }}{{ ", " if not loop.last }}{% endfor %}) AS {{ x }}_near_{{ left_out }}{{ "," if not loop.last }}
        {% endfor %}
        {% endfor %}
    FROM alike
)
{% endif %}
SELECT
    {% for x in people %}
    CAST(COALESCE(SUM(CASE WHEN {{ x }} > 0 THEN s END), 0) AS BIGINT) AS {{ x }}_copies,
    CAST(COALESCE(SUM(CASE WHEN {{ x }} = 1 THEN s END), 0) AS BIGINT) AS {{ x }}_copies_of_unique,
    {% if unlike %}
    CAST(COALESCE(SUM(CASE WHEN {{ x }} = 0 THEN s END), 0) - (SELECT COALESCE(SUM(s), 0) FROM {{ unlike[x] }}) AS BIGINT) AS {{ x }}_near,
    {% elif near %}
    CAST(COALESCE(SUM(CASE WHEN {{ x }} = 0 AND ({% for _ in columns %}{{ x }}_near_{{ loop.index }} = 1{{ " OR " if not loop.last }}{% endfor %}) THEN s END), 0) AS BIGINT) AS {{ x }}_near,
    {% endif %}
    CAST(COALESCE(SUM(CASE WHEN s > 0 THEN {{ x }} END), 0) AS BIGINT) AS {{ x }}_copied{{ "," if not loop.last }}
    {% endfor %}
    {% if "h" in people %}
    , CAST(COALESCE(SUM(CASE WHEN d < h THEN d ELSE h END), 0) AS BIGINT) AS shared
    {% endif %}
FROM {{ "nearby" if near else "alike" }}
