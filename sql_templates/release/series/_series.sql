{# The rows of all releases of a series as one relation. No one is twice in a release (that was counted before), so that the
   first person of a class tells it from the others of its release; a class of counterfeits alone has none. #}
{% macro seen(releases) -%}
{% for one in releases %}
    SELECT {{ loop.index }} AS release, e, MIN(e) OVER (PARTITION BY {% for key in one.qi %}q{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}) AS class, s
    FROM (
        SELECT {% for key in one.qi %}{{ key }} AS q{{ loop.index }}, {% endfor %}{{ one.entity }} AS e, {{ one.sensitive }} AS s
        FROM {{ one.source }}
    ) AS given
    {{ "UNION ALL" if not loop.last }}
{% endfor %}
{%- endmacro %}

{# The classes c1, c2, … in which each person lies, one a release, NULL where the person is in none. #}
{% macro lives(releases) -%}
seen AS MATERIALIZED (
    {{ seen(releases) }}
),
lives AS MATERIALIZED (
    SELECT e{% for one in releases %}, MAX(CASE WHEN release = {{ loop.index }} THEN class END) AS c{{ loop.index }}{% endfor %}

    FROM seen
    WHERE e IS NOT NULL
    GROUP BY e
)
{%- endmacro %}

{% macro classes(releases) %}{% for one in releases %}c{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}{% endmacro %}

{# Which values are left for the persons of a path, as the relation `told0`: persons who lie in the same classes have a path, called
   after the first of them. One row for each release of their lifespan and each value that its classes have in all of them.
   `known` = after how many rounds one value is left, NULL where more are; `alone` = the fewest values of one of its classes;
   `steady` = whether its classes all have the same values. #}
{% macro start(releases) -%}
{{ lives(releases) }},
cells AS (
    SELECT release, class, s, n, COUNT(*) OVER (PARTITION BY release, class) AS kinds
    FROM (
        SELECT release, class, s, COUNT(*) AS n
        FROM seen
        WHERE class IS NOT NULL
        GROUP BY release, class, s
    ) AS counted
),
paths AS MATERIALIZED (
    SELECT
        MIN(e) AS path, COUNT(*) AS persons,
        {% for one in releases %}CASE WHEN c{{ loop.index }} IS NULL THEN 0 ELSE 1 END{{ " + " if not loop.last }}{% endfor %} AS span,
        {{ classes(releases) }}
    FROM lives
    GROUP BY {{ classes(releases) }}
),
steps AS (
    {% for one in releases %}
    SELECT path, persons, span, {{ loop.index }} AS release, c{{ loop.index }} AS class
    FROM paths
    WHERE c{{ loop.index }} IS NOT NULL
    {{ "UNION ALL" if not loop.last }}
    {% endfor %}
),
met AS (
    SELECT
        steps.path, steps.persons, steps.span, steps.release, steps.class, cells.s, cells.n, cells.kinds,
        COUNT(*) OVER (PARTITION BY steps.path, cells.s) AS met
    FROM steps
    JOIN cells ON steps.release = cells.release AND steps.class = cells.class
),
told0 AS MATERIALIZED (
    SELECT
        path, persons, span, release, class, s, n,
        MIN(kinds) OVER (PARTITION BY path) AS alone,
        CASE WHEN MAX(kinds) OVER (PARTITION BY path) * span = COUNT(*) OVER (PARTITION BY path) THEN 1 ELSE 0 END AS steady,
        CASE WHEN COUNT(*) OVER (PARTITION BY path) = span THEN 0 END AS known
    FROM met
    WHERE met = span
)
{%- endmacro %}

{# A round strikes out what is known: where as many persons of a class are known to have a value as its rows have it, no one
   else has it. #}
{% macro round(number) -%}
{% set before = "told" ~ (number - 1) %}
struck{{ number }} AS (
    SELECT release, class, s
    FROM {{ before }}
    WHERE known IS NOT NULL
    GROUP BY release, class, s, n
    HAVING SUM(persons) >= n
),
lost{{ number }} AS MATERIALIZED (
    SELECT DISTINCT told.path, told.s
    FROM {{ before }} AS told
    JOIN struck{{ number }} AS struck ON told.release = struck.release AND told.class = struck.class AND told.s IS NOT DISTINCT FROM struck.s
    WHERE told.known IS NULL
),
told{{ number }} AS MATERIALIZED (
    SELECT
        told.path, persons, span, release, class, told.s, n, alone, steady,
        COALESCE(known, CASE WHEN COUNT(*) OVER (PARTITION BY told.path) = span THEN {{ number }} END) AS known
    FROM {{ before }} AS told
    LEFT JOIN lost{{ number }} AS lost ON told.path = lost.path AND told.s IS NOT DISTINCT FROM lost.s
    WHERE lost.path IS NULL
)
{%- endmacro %}

{# What is left after some rounds as `told`: kept, or from the releases on. #}
{% macro told(releases, rounds, kept) -%}
{% if not kept %}
{{ start(releases) }},
{% for number in range(1, rounds + 1) %}
{{ round(number) }},
{% endfor %}
{% endif %}
told AS (
    SELECT *
    FROM {{ kept or "told" ~ rounds }} AS kept
)
{%- endmacro %}
