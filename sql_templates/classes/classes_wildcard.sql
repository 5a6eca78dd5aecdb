{# NULL in a quasi-identifier matches any value. Rows with the same key form a pattern; what a pattern matches overlaps
   with what others match, so one row a pattern comes back and stands for its rows: `classes` and `table_rows` are how
   many rows have it, n and size count the rows (or persons) that it matches.

   Two patterns match when they agree in the columns that both have. For each pair of masks (which columns are NULL)
   these columns are known, so that plain equality joins do: every pattern seeks under each mask that occurs, every cell
   is offered under each mask, with codes for values and 0 where either side has NULL. #}
{% import "classes/_rows.sql" as rows %}
{% import "classes/_target.sql" as parts with context %}
{% set key = rows.key_columns(keys, false) %}
{% set codes %}{% for column in keys %}k{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}{% endset %}
{% set listed = key ~ ", " if key else "" %}
{% set coded_key = codes ~ ", " if key else "" %}
WITH {{ parts.target(source, keys, sensitive, entity, false) }},
{% if sensitive is not none %}
{{ parts.lanes(entity, text) }},
{% endif %}
members AS MATERIALIZED (
    SELECT {{ listed }}{{ "e, " if entity is not none }}s, COUNT(*) AS row_count
    FROM target
    GROUP BY {{ listed }}{{ "e, " if entity is not none }}s
),
coded AS MATERIALIZED (
    SELECT
        {{ listed }}
    {% for column in keys %}
        CASE WHEN q{{ loop.index }} IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY q{{ loop.index }}) END AS k{{ loop.index }},
    {% endfor %}
        {% for column in keys %}CASE WHEN q{{ loop.index }} IS NULL THEN '1' ELSE '0' END || {% endfor %}'' AS mask,
        {{ "e," if entity is not none }}
        {{ "COALESCE(lanes.lane, " ~ null_lane ~ ")" if sensitive is not none else 0 }} AS lane,
        row_count
    FROM members
    {% if sensitive is not none %}
    LEFT JOIN lanes ON members.s = lanes.s
    {% endif %}
),
patterns AS MATERIALIZED (
    SELECT ROW_NUMBER() OVER () AS id, {{ listed }}{{ coded_key }}mask, SUM(row_count) AS row_count
    FROM coded
    GROUP BY {{ listed }}{{ coded_key }}mask
),
masks AS MATERIALIZED (
    SELECT DISTINCT {% for column in keys %}CASE WHEN k{{ loop.index }} = 0 THEN 1 ELSE 0 END AS z{{ loop.index }}, {% endfor %}mask
    FROM patterns
),
seeking AS NOT MATERIALIZED (
    SELECT
        patterns.id,
    {% for column in keys %}
        CASE WHEN masks.z{{ loop.index }} = 1 THEN 0 ELSE patterns.k{{ loop.index }} END AS k{{ loop.index }},
    {% endfor %}
        patterns.mask AS own, masks.mask AS other
    FROM patterns
    CROSS JOIN masks
),
offered AS NOT MATERIALIZED (
    SELECT own, other, {{ coded_key }}{{ "e, " if entity is not none }}lane, SUM(row_count) AS c
    FROM (
        SELECT
        {% for column in keys %}
            CASE WHEN masks.z{{ loop.index }} = 1 THEN 0 ELSE coded.k{{ loop.index }} END AS k{{ loop.index }},
        {% endfor %}
            {{ "e, " if entity is not none }}lane, row_count, masks.mask AS own, coded.mask AS other
        FROM coded
        CROSS JOIN masks
    ) AS shown
    GROUP BY own, other, {{ coded_key }}{{ "e, " if entity is not none }}lane
),
met AS {{ "MATERIALIZED" if entity is not none else "NOT MATERIALIZED" }} (
    SELECT seeking.id, {{ "offered.e, " if entity is not none }}offered.lane, SUM(offered.c) AS c
    FROM seeking
    JOIN offered ON seeking.own = offered.own AND seeking.other = offered.other
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
matched AS NOT MATERIALIZED (
    SELECT
        id,
        CAST(SUM(c) AS BIGINT) AS n
        {{ ", ARRAY_AGG(lane * " ~ 2 ** 40 ~ " + c) AS cell_list" if sensitive is not none }}
    FROM (SELECT id, lane, CAST({{ "COUNT(*)" if entity is not none else "SUM(c)" }} AS BIGINT) AS c FROM met GROUP BY id, lane) AS cell
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
