{# The answers of a query on both tables, group by group: a released row counts 1 where its cells can satisfy the query,
   or the share of the original that does under its cells, or in the region of its class. Of linked conditions it
   counts the signatures in `met` together. #}
{% macro answer(weight) %}{% if aggregate == "COUNT" %}SUM(n * {{ weight }}){% elif aggregate == "SUM" %}SUM(total * NULLIF({{ weight }}, 0)){% else %}SUM(total * {{ weight }}) / NULLIF(SUM(present * {{ weight }}), 0){% endif %}{% endmacro %}
WITH coded AS (
    SELECT
        {% for cells in all_cells %}
        COALESCE(cells_{{ loop.index }}.code, 0) AS g{{ loop.index }},
        {% endfor %}
        {% for number in further %}
        released.k{{ all_cells | length + number }} AS o{{ number }},
        {% endfor %}
        {% if met %}
        CAST(released.k{{ all_cells | length + further | length + 1 }} AS BIGINT) AS others,
        {% endif %}
        released.n, released.total, released.present
    FROM {{ released }} AS released
    {% for cells in all_cells %}
    LEFT JOIN {{ cells }} AS cells_{{ loop.index }} ON released.k{{ loop.index }} = cells_{{ loop.index }}.t
    {% endfor %}
),
keyed AS (
    SELECT *, {{ "ROW_NUMBER() OVER () AS id, " if met }}{{ cell_key }} AS c
    FROM coded
),
weighed AS (
    SELECT
        {% for place in grouped %}
        shares_{{ place }}.u AS u{{ place }},
        {% endfor %}
        {% for number in further %}
        keyed.o{{ number }},
        {% endfor %}
        {{ "keyed.id, " if met }}keyed.n, keyed.total, keyed.present,
        1{% for place in places_of %} * shares_{{ place }}.share{% endfor %} AS independent,
        {{ "COALESCE(inside.share, 0)" if inside and places_of else "CAST(1 AS DOUBLE)" if not places_of else "CAST(NULL AS DOUBLE)" }} AS conditional
    FROM keyed
    {% for place in places_of %}
    JOIN {{ shares[loop.index0] }} AS shares_{{ place }} ON keyed.g{{ place }} = shares_{{ place }}.cell
    {% endfor %}
    {% if inside and places_of %}
    LEFT JOIN {{ inside }} AS inside
        ON keyed.c = inside.c{% for place in places_of %} AND shares_{{ place }}.u = inside.u{{ place }}{{ " AND shares_" ~ place ~ ".x = inside.x" ~ place if place in linked }}{% endfor %}

    {% endif %}
    {% if met %}
    JOIN {{ met }} AS met
        ON keyed.others = met.others{% for place in linked %} AND shares_{{ place }}.x = met.x{{ place }}{% endfor %}

    {% endif %}
),
{% if met %}
together AS (
    SELECT
        id, {% for place in grouped %}u{{ place }}, {% endfor %}{% for number in further %}o{{ number }}, {% endfor %}n, total, present,
        SUM(independent) AS independent,
        SUM(conditional) AS conditional
    FROM weighed
    GROUP BY id, {% for place in grouped %}u{{ place }}, {% endfor %}{% for number in further %}o{{ number }}, {% endfor %}n, total, present
),
{% endif %}
answered AS (
    SELECT
        {% for place in grouped %}
        words_{{ place }}.key AS q{{ loop.index }},
        {% endfor %}
        {% for number in further %}
        o{{ number }},
        {% endfor %}
        {{ answer("1") }} AS plain,
        {{ answer("conditional") }} AS conditional,
        {{ answer("independent") }} AS independent
    FROM {{ "together" if met else "weighed" }}
    {% for place in grouped %}
    JOIN {{ grouped_words[loop.index0] }} AS words_{{ place }} ON {{ "together" if met else "weighed" }}.u{{ place }} = words_{{ place }}.id
    {% endfor %}
    {% if grouped or further %}
    GROUP BY {% for place in grouped %}words_{{ place }}.key{{ ", " if further or not loop.last }}{% endfor %}{% for number in further %}o{{ number }}{{ ", " if not loop.last }}{% endfor %}

    {% endif %}
),
truth AS (
    SELECT
        {% for place in grouped %}
        {{ "CAST(TRY_CAST(k" ~ loop.index ~ " AS DOUBLE) AS VARCHAR)" if floats[loop.index0] else "k" ~ loop.index }} AS q{{ loop.index }},
        {% endfor %}
        {% for number in further %}
        k{{ grouped | length + number }} AS o{{ number }},
        {% endfor %}
        {{ "n" if aggregate == "COUNT" else "total" if aggregate == "SUM" else "total / NULLIF(present, 0)" }} AS truth
    FROM {{ truth }}
)
SELECT
    {% for place in grouped %}
    COALESCE(truth.q{{ loop.index }}, answered.q{{ loop.index }}) AS key_{{ loop.index }},
    {% endfor %}
    {% for number in further %}
    COALESCE(truth.o{{ number }}, answered.o{{ number }}) AS further_{{ number }},
    {% endfor %}
    CAST({{ "COALESCE(truth.truth, 0)" if aggregate == "COUNT" else "truth.truth" }} AS DOUBLE) AS truth,
    CAST({{ "COALESCE(answered.plain, 0)" if aggregate == "COUNT" else "answered.plain" }} AS DOUBLE) AS plain,
    CAST({{ "COALESCE(answered.conditional, 0)" if aggregate == "COUNT" and (inside or not places_of) else "answered.conditional" }} AS DOUBLE) AS conditional,
    CAST({{ "COALESCE(answered.independent, 0)" if aggregate == "COUNT" else "answered.independent" }} AS DOUBLE) AS independent
FROM truth
FULL JOIN answered
    ON TRUE{% for place in grouped %} AND truth.q{{ loop.index }} IS NOT DISTINCT FROM answered.q{{ loop.index }}{% endfor %}{% for number in further %} AND truth.o{{ number }} IS NOT DISTINCT FROM answered.o{{ number }}{% endfor %}

ORDER BY {% for place in grouped %}key_{{ loop.index }} NULLS LAST, {% endfor %}{% for number in further %}further_{{ number }} NULLS LAST, {% endfor %}truth
LIMIT {{ limit }}
