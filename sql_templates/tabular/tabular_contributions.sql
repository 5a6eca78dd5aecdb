{# The cells of a table that rows of contributions make, one grouping set or several: contributors, their sum, the largest
   contributions, holdings. A contribution is what a person has in a cell altogether; without persons, that of a row. Values
   are whole multiples of their last decimal place, and so are weights. With rows of a release before, a contribution is
   what a person has more or less in a cell, and only those count who came, left, or have. #}
{% set width = dimensions | length %}
{% macro keys(prefix="") %}{% for _ in dimensions %}{{ ", " if not loop.first }}{{ prefix }}d{{ loop.index0 }}{% endfor %}{% endmacro %}
{% macro flags() %}{% if sets %}{% for _ in dimensions %}, t{{ loop.index0 }}{% endfor %}{% endif %}{% endmacro %}
{% macro grouping(more) %}
{% if sets %}
GROUP BY GROUPING SETS ({% for set in sets %}{{ ", " if not loop.first }}({% for place in set %}{{ ", " if not loop.first }}d{{ place }}{% endfor %}{{ (", " if set else "") ~ more if more }}){% endfor %})
{%- else %}
GROUP BY {{ keys() }}{{ ", " ~ more if more }}
{%- endif %}
{% endmacro %}
{% macro flagged() %}{% if sets %}{% for _ in dimensions %}, GROUPING(d{{ loop.index0 }}) AS t{{ loop.index0 }}{% endfor %}{% endif %}{% endmacro %}
{% set ranked = top and (weight or dialect != "duckdb") %}
{% set by_person = entity or ranked %}
{% macro rows(release, number) %}
    SELECT
        {% for dimension in release.dimensions %}{{ ", " if not loop.first }}{{ dimension }} AS d{{ loop.index0 }}{% endfor %}
        {% if before %}, {{ number }} AS e{% endif %}
        {% if by_person %}, {{ release.entity or "ROW_NUMBER() OVER ()" }} AS p{% endif %}
        {% if value %}, {{ "ABS(" ~ release.value ~ ")" if absolute and not entity else release.value }} AS v{% endif %}
        {% if weight %}, {{ release.weight }} AS w{% endif %}
        {% if holding %}, {{ release.holding }} AS h{% endif %}

    FROM {{ release.source }}
{% endmacro %}
{% set change = "SUM(CASE WHEN e = 1 THEN v ELSE 0 END) - SUM(CASE WHEN e = 0 THEN v ELSE 0 END)" %}
WITH listed AS (
{{ rows({"source": source, "dimensions": dimensions, "entity": entity, "value": value, "weight": weight, "holding": holding}, 1) }}
{% if before %}
    UNION ALL
{{ rows(before, 0) }}
{% endif %}
)
{% if by_person %}
, contributions AS (
    SELECT
        {{ keys() }}{{ flagged() }}, p
        {% if value %}, {{ "ABS(" ~ change ~ ")" if before else "ABS(SUM(v))" if absolute else "COALESCE(SUM(v), 0)" }} AS v{% endif %}
        {% if weight %}, MAX(w) AS w, {{ "0" if before else "CASE WHEN MIN(w) < MAX(w) OR COUNT(w) < COUNT(*) THEN 1 ELSE 0 END" }} AS unsteady{% endif %}
        {% if holding %}, MAX(h) AS h{% endif %}

    FROM listed
    {{ grouping("p") }}
    {% if before %}
    HAVING MIN(e) = MAX(e){{ " OR " ~ change ~ " <> 0" if value }}{{ " OR p IS NULL" if entity }}
    {% endif %}
)
{% endif %}
{% if ranked %}
, ranked AS (
    SELECT contributions.*, ROW_NUMBER() OVER (PARTITION BY {{ keys() }}{{ flags() }} ORDER BY v DESC{{ ", w DESC" if weight }}) AS place
    FROM contributions
)
{% endif %}
, cells AS (
    SELECT
        {{ keys() }}{{ flags() if by_person else flagged() }}, COUNT(*) AS n
        {% if value %}, {{ "SUM(v * w)" if weight else "SUM(v)" }} AS x, MIN(v) AS least{% endif %}
        {% if entity %}, COUNT(*) - COUNT(p) AS nobody{% endif %}
        {% if weight %}, SUM(unsteady) AS unsteady, MIN(w) AS lightest{% endif %}
        {% if holding %}, COUNT(DISTINCT h) AS h{% endif %}
        {% if ranked %}
        {% for place in range(1, top + 1) %}
        , MAX(CASE WHEN place = {{ place }} THEN v END) AS x{{ place }}{% if weight %}, MAX(CASE WHEN place = {{ place }} THEN w END) AS w{{ place }}{% endif %}

        {% endfor %}
        {% elif top == 1 %}
        , MAX(v) AS x1
        {% elif top %}
        , MAX(v, {{ top }}) AS largest
        {% endif %}

    FROM {{ "ranked" if ranked else "contributions" if by_person else "listed" }}
    {% if by_person %}
    GROUP BY {{ keys() }}{{ flags() }}
    {% else %}
    {{ grouping("") }}
    {% endif %}
)
SELECT cells.*{% if top > 1 and not ranked %}{% for place in range(1, top + 1) %}, largest[{{ place }}] AS x{{ place }}{% endfor %}{% endif %}

FROM cells
