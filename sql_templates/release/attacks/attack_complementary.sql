{# The classes of two releases of the same people, joined: a person lies in one class of each. For a pair of classes that
   fit each other, at most Σ min(n, n') people can lie in both, over the values of the shared columns, and at least
   Σ max(0, n + n' - N), N = everybody with the value. `matches` are quasi-identifiers of both releases, `mine` and
   `theirs` those of one, `shared` are columns that both publish unchanged. #}
{% import "release/attacks/_attack_fits.sql" as parts with context %}
{% set keys %}{% for match in matches %}{{ match.name }}, {% endfor %}{% endset %}
{% set values %}{% for column in shared %}{{ column.name }}{{ ", " if not loop.last }}{% endfor %}{% endset %}
{% macro own(columns) %}{% for column in columns %}r{{ loop.index }}, {% endfor %}{% endmacro %}
WITH my_cells AS MATERIALIZED (
    SELECT {{ keys }}{{ own(mine) }}{{ values ~ ", " if values }}COUNT(*) AS n
    FROM (
        SELECT
        {% for match in matches %}
            {{ parts.text_of(match.mine, match.form, match.null) }} AS {{ match.name }},
        {% endfor %}
        {% for column in mine %}
            {{ parts.text_of(column, "", "") }} AS r{{ loop.index }},
        {% endfor %}
        {% for column in shared %}
            {{ parts.text_of(column.mine, column.form, column.null) }} AS {{ column.name }},
        {% endfor %}
            1 AS one
        FROM {{ source }}
    ) AS released
    GROUP BY {{ keys }}{{ own(mine) }}{{ values ~ ", " if values }}one
),
their_cells AS MATERIALIZED (
    SELECT {{ keys }}{{ own(theirs) }}{{ values ~ ", " if values }}COUNT(*) AS n
    FROM (
        SELECT
        {% for match in matches %}
            {{ parts.text_of(match.theirs, match.other_form, match.other_null) }} AS {{ match.name }},
        {% endfor %}
        {% for column in theirs %}
            {{ parts.text_of(column, "", "") }} AS r{{ loop.index }},
        {% endfor %}
        {% for column in shared %}
            {{ parts.text_of(column.theirs, column.other_form, column.other_null) }} AS {{ column.name }},
        {% endfor %}
            1 AS one
        FROM {{ other }}
    ) AS released
    GROUP BY {{ keys }}{{ own(theirs) }}{{ values ~ ", " if values }}one
),
{# Classes and values become numbers by ranking, not by joins on texts, whose sizes a planner cannot guess. #}
{% macro numbered(cells, columns) %}{{ "DENSE_RANK() OVER (ORDER BY " ~ (keys ~ own(columns)).strip().rstrip(",") ~ ")" if keys or columns else "1" }} AS id, {{ cells }}.* FROM {{ cells }}{% endmacro %}
my_numbered AS MATERIALIZED (SELECT {{ numbered("my_cells", mine) }}),
their_numbered AS MATERIALIZED (SELECT {{ numbered("their_cells", theirs) }}),
all_values AS MATERIALIZED (
    SELECT
        side, id, n, {{ "DENSE_RANK() OVER (ORDER BY " ~ values ~ ")" if values else "1" }} AS v,
        CAST(SUM(CASE WHEN side = 1 THEN n ELSE 0 END) OVER ({{ "PARTITION BY " ~ values if values }}) AS BIGINT) AS total
    FROM (
        SELECT 1 AS side, id, n{{ ", " ~ values if values }} FROM my_numbered
        UNION ALL
        SELECT 2 AS side, id, n{{ ", " ~ values if values }} FROM their_numbered
    ) AS both_sides
),
my_classes AS MATERIALIZED (
    SELECT {{ keys }}id, CAST(SUM(n) AS BIGINT) AS size, COUNT(*) AS kinds
    FROM my_numbered
    GROUP BY {{ keys }}id
),
their_classes AS MATERIALIZED (
    SELECT {{ keys }}id, CAST(SUM(n) AS BIGINT) AS size, COUNT(*) AS kinds
    FROM their_numbered
    GROUP BY {{ keys }}id
),
{{ parts.fits(matches, "my_classes", "their_classes") }}
class_pairs AS MATERIALIZED (
    SELECT mine.id AS my_id, theirs.id AS their_id, mine.size AS my_size, theirs.size AS their_size, mine.kinds AS my_kinds, theirs.kinds AS their_kinds
    {{ parts.joined(matches, "my_classes", "their_classes") }}
),
my_values AS MATERIALIZED (SELECT id, v, n, total FROM all_values WHERE side = 1),
their_values AS MATERIALIZED (SELECT id, v, n FROM all_values WHERE side = 2),
joined AS MATERIALIZED (
    SELECT
        my_id, their_id, MAX(my_size) AS my_size, MAX(their_size) AS their_size, MAX(my_kinds) AS my_kinds,
        MAX(their_kinds) AS their_kinds, COUNT(*) AS kinds,
        SUM(LEAST(my_values.n, their_values.n)) AS most,
        SUM(GREATEST(0, my_values.n + their_values.n - total)) AS least
    FROM class_pairs
    JOIN my_values ON class_pairs.my_id = my_values.id
    JOIN their_values ON class_pairs.their_id = their_values.id AND my_values.v = their_values.v
    GROUP BY my_id, their_id
)
{% macro where(condition, what) %}CAST(COALESCE(SUM(CASE WHEN {{ condition }} THEN {{ what }} ELSE 0 END), 0) AS BIGINT){% endmacro %}
{% set few = "most < " ~ k %}
{% set fresh = few ~ " AND my_size >= " ~ k ~ " AND their_size >= " ~ k %}
SELECT
    COUNT(*) AS classes,
    {{ where(few, "1") }} AS below_k,
    {{ where(few, "most") }} AS at_most,
    {{ where(few, "least") }} AS at_least,
    {{ where(fresh, "1") }} AS newly_below_k,
    {{ where(fresh, "most") }} AS newly_at_most,
    {{ where(fresh, "least") }} AS newly_at_least,
    {{ where("kinds = 1", "1") if values else "0" }} AS revealed,
    {{ where("kinds = 1 AND my_kinds > 1 AND their_kinds > 1", "1") }} AS newly_revealed,
    CAST(MIN(most) AS BIGINT) AS smallest
FROM joined
