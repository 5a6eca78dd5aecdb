{# Random counting queries on both tables: the truth, and what the release says as it stands, by conditional probability and
   with independent columns. One row a query. #}
WITH
{% for query in queries %}
{% set number = loop.index0 %}
truth_{{ number }} AS (
    SELECT COALESCE(SUM(n), 0) AS answer
    FROM {{ source }}
    WHERE TRUE{% for part in query.parts %} AND v{{ part.place }} BETWEEN {{ part.low }} AND {{ part.high }}{% endfor %}{{ " AND lane = " ~ query.lane if query.lane is not none }}
),
plain_{{ number }} AS (
    SELECT
        COALESCE(SUM(classes.m), 0) AS answer,
        COALESCE(SUM(classes.m{% for part in query.parts %} * share_{{ part.place }}.share{% endfor %}), 0) AS independent
    FROM {{ classes }} AS classes
    {% for part in query.parts %}
    JOIN {{ shares }} AS share_{{ part.place }}
        ON share_{{ part.place }}.query = {{ number }} AND share_{{ part.place }}.place = {{ part.place }} AND classes.g{{ part.place }} = share_{{ part.place }}.cell
    {% endfor %}
    {{ "WHERE classes.lane = " ~ query.lane if query.lane is not none }}
),
{% if homes %}
meant_{{ number }} AS (
    SELECT home, SUM(n) AS n
    FROM {{ homes }}
    WHERE TRUE{% for part in query.parts %} AND v{{ part.place }} BETWEEN {{ part.low }} AND {{ part.high }}{% endfor %}

    GROUP BY home
),
conditional_{{ number }} AS (
    SELECT COALESCE(SUM(held.n * classes.m / regions.region), 0) AS answer
    FROM (
        {% if disjoint %}
        SELECT home AS c, n
        FROM meant_{{ number }}
        WHERE home IS NOT NULL
        {% else %}
        SELECT inside.c, SUM(meant.n) AS n
        FROM meant_{{ number }} AS meant
        JOIN {{ inside }} AS inside ON meant.home = inside.a
        GROUP BY inside.c
        {% endif %}
        UNION ALL
        SELECT whole.key, meant.n
        FROM (SELECT SUM(n) AS n FROM meant_{{ number }}) AS meant
        CROSS JOIN (SELECT key FROM {{ regions }} WHERE is_whole) AS whole
    ) AS held
    JOIN {{ regions }} AS regions ON held.c = regions.key
    JOIN {{ classes }} AS classes ON held.c = classes.c
    WHERE regions.region > 0{{ " AND classes.lane = " ~ query.lane if query.lane is not none }}
){{ "," if not loop.last }}
{% else %}
conditional_{{ number }} AS (SELECT 0 AS answer){{ "," if not loop.last }}
{% endif %}
{% endfor %}
{% for query in queries %}
{% set number = loop.index0 %}
SELECT {{ number }} AS query, truth_{{ number }}.answer AS truth, plain_{{ number }}.answer AS plain, conditional_{{ number }}.answer AS conditional, plain_{{ number }}.independent
FROM truth_{{ number }}, plain_{{ number }}, conditional_{{ number }}
{{ "UNION ALL" if not loop.last }}
{% endfor %}
ORDER BY query
