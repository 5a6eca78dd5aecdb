{# NULL in a quasi-identifier matches any value. Rows with the same key form a pattern; what a pattern matches overlaps
   with what others match, so one row a pattern comes back and stands for its rows: `classes` and `table_rows` are how
   many rows have it, n and size count the rows (or persons) that it matches.

   Two patterns match when they agree in the columns that both have. A mask says which columns are NULL. What is offered
   to the patterns of a mask is every cell without the columns of the mask; the patterns seek it without each further
   set of columns that other masks leave out. Codes stand for values and 0 for what is left out, so that plain equality
   joins: with the same zeros on both sides, the cell has its NULLs where they were sought. With `share` only the
   patterns of some masks are matched, so that they fit the memory, over cells that are `kept`. With `cells` (id, lane, c)
   it is known what the patterns in them match. #}
{% import "classes/_wildcard.sql" as wildcard with context %}
{% set codes = wildcard.codes(keys) %}
{% set coded_key = codes ~ ", " if keys else "" %}
WITH {% if kept is none %}
{{ wildcard.coded() }},
{%- else %}
coded AS NOT MATERIALIZED (
    SELECT * FROM {{ kept }}
),
{%- endif %}

patterns AS MATERIALIZED (
    SELECT id, mask, {% for column in keys %}q{{ loop.index }}, {% endfor %}{{ coded_key }}SUM(row_count) AS row_count
    FROM coded
    {% if share %}
    WHERE mask % {{ share.parts }} = {{ share.part }}
    {% endif %}
    GROUP BY id, mask{% for column in keys %}, q{{ loop.index }}{% endfor %}{{ ", " ~ codes if keys }}
),
{% if cells is none %}
masks AS MATERIALIZED (
    SELECT DISTINCT mask{% for column in keys %}, CASE WHEN k{{ loop.index }} = 0 THEN 1 ELSE 0 END AS z{{ loop.index }}{% endfor %}

    FROM coded
),
own AS MATERIALIZED (
    SELECT *
    FROM masks
    {% if share %}
    WHERE mask % {{ share.parts }} = {{ share.part }}
    {% endif %}
),
left_out AS MATERIALIZED (
    SELECT DISTINCT own.mask AS own{% for column in keys %}, GREATEST(own.z{{ loop.index }}, masks.z{{ loop.index }}) AS z{{ loop.index }}{% endfor %}

    FROM own
    CROSS JOIN masks
),
seeking AS NOT MATERIALIZED (
    SELECT
        patterns.id,
    {% for column in keys %}
        CASE WHEN left_out.z{{ loop.index }} = 1 THEN 0 ELSE patterns.k{{ loop.index }} END AS k{{ loop.index }},
    {% endfor %}
        left_out.own
    FROM patterns
    JOIN left_out ON patterns.mask = left_out.own
),
offered AS NOT MATERIALIZED (
    SELECT own, {{ coded_key }}{{ "e, " if entity is not none }}lane, SUM(row_count) AS c
    FROM (
        SELECT
        {% for column in keys %}
            CASE WHEN own.z{{ loop.index }} = 1 THEN 0 ELSE coded.k{{ loop.index }} END AS k{{ loop.index }},
        {% endfor %}
            {{ "e, " if entity is not none }}lane, row_count, own.mask AS own
        FROM coded
        CROSS JOIN own
    ) AS shown
    GROUP BY own, {{ coded_key }}{{ "e, " if entity is not none }}lane
),
met AS {{ "MATERIALIZED" if entity is not none else "NOT MATERIALIZED" }} (
    SELECT seeking.id, {{ "offered.e, " if entity is not none }}offered.lane, SUM(offered.c) AS c
    FROM seeking
    JOIN offered ON seeking.own = offered.own
        {%- for column in keys %} AND seeking.k{{ loop.index }} = offered.k{{ loop.index }}{% endfor %}

    GROUP BY seeking.id, {{ "offered.e, " if entity is not none }}offered.lane
),
{% if entity is not none %}
persons AS NOT MATERIALIZED (
    SELECT id, COUNT(DISTINCT e) AS size
    FROM met
    GROUP BY id
),
{% endif %}
{% endif %}
matched AS NOT MATERIALIZED (
    SELECT
        id,
        CAST(SUM(c) AS BIGINT) AS n
        {{ ", ARRAY_AGG(lane * " ~ 2 ** 40 ~ " + c) AS cell_list" if sensitive is not none }}
    {% if cells is none %}
    FROM (SELECT id, lane, CAST({{ "COUNT(*)" if entity is not none else "SUM(c)" }} AS BIGINT) AS c FROM met GROUP BY id, lane) AS cell
    {% else %}
    FROM {{ cells }}
    {% endif %}
    GROUP BY id
)
SELECT
    patterns.id,
    {% for column in keys %}patterns.q{{ loop.index }}, {% endfor %}

    CAST(patterns.row_count AS BIGINT) AS classes,
    {{ "persons.size" if entity is not none and sensitive is none else "matched.n" }} AS n,
    {{ "persons.size" if entity is not none else "matched.n" }} AS size,
    CAST(patterns.row_count AS BIGINT) AS table_rows
    {{ ", matched.cell_list" if sensitive is not none }}
FROM patterns
JOIN matched ON patterns.id = matched.id
{% if entity is not none %}
JOIN persons ON patterns.id = persons.id
{% endif %}
