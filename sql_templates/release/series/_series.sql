{# The rows of all releases of a series as one relation. Nobody is twice in a release (that was counted before), so that the
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

{# The classes c1, c2, … in which each person lies, one a release, NULL where the person is in none; and the path: the first
   of all persons who lie in the same ones. #}
{% macro lives(releases) -%}
{% set classes %}{% for one in releases %}c{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}{% endset %}
    SELECT e, MIN(e) OVER (PARTITION BY {{ classes }}) AS path, {{ classes }}
    FROM (
        SELECT e{% for one in releases %}, MAX(CASE WHEN release = {{ loop.index }} THEN class END) AS c{{ loop.index }}{% endfor %}

        FROM seen
        WHERE e IS NOT NULL
        GROUP BY e
    ) AS alive
{%- endmacro %}

{# Which values are left for the persons of a path, as the relation `told`: one row for each release of their lifespan and
   each value that its classes have in all of them. `known` = after how many rounds one value is left, NULL where more are;
   `alone` = the fewest values of one of its classes; `steady` = whether its classes all have the same values.
   A round strikes out what is known: where as many persons of a class are known to have a value as its rows have it, nobody
   else has it. Each window function is a step of its own, so that no relation is read twice however many rounds there are. #}
{% macro told(releases, rounds) -%}
seen AS MATERIALIZED (
    {{ seen(releases) }}
),
cells AS (
    SELECT release, class, s, COUNT(*) AS n
    FROM seen
    WHERE class IS NOT NULL
    GROUP BY release, class, s
),
lives AS MATERIALIZED (
    {{ lives(releases) }}
),
paths AS MATERIALIZED (
    SELECT
        path, COUNT(*) AS persons,
        {% for one in releases %}CASE WHEN c{{ loop.index }} IS NULL THEN 0 ELSE 1 END{{ " + " if not loop.last }}{% endfor %} AS span,
        {% for one in releases %}c{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}

    FROM lives
    GROUP BY path, {% for one in releases %}c{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}

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
        steps.path, steps.persons, steps.span, steps.release, steps.class, cells.s, cells.n,
        COUNT(*) OVER (PARTITION BY steps.path, cells.s) AS met,
        COUNT(*) OVER (PARTITION BY steps.path, steps.release) AS kinds
    FROM steps
    JOIN cells ON steps.release = cells.release AND steps.class = cells.class
),
signed AS (
    SELECT
        met.*, MIN(met) OVER (PARTITION BY path) AS fewest_met, MIN(kinds) OVER (PARTITION BY path) AS alone
    FROM met
),
told0 AS (
    SELECT
        path, persons, span, release, class, s, n, alone,
        CASE WHEN fewest_met = span THEN 1 ELSE 0 END AS steady,
        CASE WHEN COUNT(*) OVER (PARTITION BY path) = span THEN 0 END AS known
    FROM signed
    WHERE met = span
),
{% for round in range(1, rounds + 1) %}
struck{{ round }} AS (
    SELECT
        told{{ round - 1 }}.*,
        SUM(CASE WHEN known IS NOT NULL THEN persons ELSE 0 END) OVER (PARTITION BY release, class, s) AS taken
    FROM told{{ round - 1 }}
),
kept{{ round }} AS (
    SELECT
        struck{{ round }}.*,
        SUM(CASE WHEN known IS NOT NULL OR n > taken THEN 1 ELSE 0 END) OVER (PARTITION BY path, s) AS possible
    FROM struck{{ round }}
),
told{{ round }} AS (
    SELECT
        path, persons, span, release, class, s, n, alone, steady,
        COALESCE(known, CASE WHEN COUNT(*) OVER (PARTITION BY path) = span THEN {{ round }} END) AS known
    FROM kept{{ round }}
    WHERE possible = span
),
{% endfor %}
told AS (
    SELECT *
    FROM told{{ rounds }}
)
{%- endmacro %}
