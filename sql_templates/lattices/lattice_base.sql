{# One row for every combination of values of the quasi-identifiers that occurs: the words of its key, how many rows it
   has, and the counts of the sensitive values in lanes. Sums of such rows are classes of every node of the lattice.
   `columns` are (expression, codes); `attributes` are (expression, lanes, words, aggregate). #}
WITH target AS NOT MATERIALIZED (
    SELECT
    {% for column in columns %}
        {{ column.sql }} AS q{{ loop.index0 }},
    {% endfor %}
    {% for attribute in attributes %}
        {{ attribute.sql }} AS s{{ attribute.position }},
    {% endfor %}
        {{ weight if weight else 1 }} AS c
    FROM {{ source }}
),
{% for attribute in attributes %}
weights_{{ attribute.position }} AS (
    SELECT
        {{ attribute.value }} AS s
    {% for word in attribute.words %}
        , CAST(CASE lane{% for lane, shift in word %} WHEN {{ lane }} THEN {{ 2 ** shift }}{% endfor %} ELSE 0 END AS BIGINT) AS w{{ loop.index0 }}
    {% endfor %}
    FROM {{ attribute.lanes }}
),
{% endfor %}
coded AS NOT MATERIALIZED (
    SELECT
    {% for word in range(words) %}
        {% for column in columns %}codes_{{ loop.index0 }}.k{{ word }}{{ " + " if not loop.last }}{% endfor %}{{ "CAST(0 AS BIGINT)" if not columns }} AS k{{ word }},
    {% endfor %}
    {% for attribute in attributes %}
        {% for word in attribute.words %}
        weights_{{ attribute.position }}.w{{ loop.index0 }}{{ " * c" if weight and attribute.aggregate == "SUM" }} AS w{{ attribute.position }}_{{ loop.index0 }},
        {% endfor %}
    {% endfor %}
        c
    FROM target
    {% for column in columns %}
    JOIN {{ column.codes }} AS codes_{{ loop.index0 }} ON target.q{{ loop.index0 }} IS NOT DISTINCT FROM codes_{{ loop.index0 }}.{{ column.value }}
    {% endfor %}
    {% for attribute in attributes %}
    JOIN weights_{{ attribute.position }} ON target.s{{ attribute.position }} IS NOT DISTINCT FROM weights_{{ attribute.position }}.s
    {% endfor %}
)
SELECT
    0 AS id,
{% for word in range(words) %}
    k{{ word }},
{% endfor %}
    CAST({{ "SUM(c)" if weight else "COUNT(*)" }} AS BIGINT) AS n
{% for attribute in attributes %}
    {% for word in attribute.words %}
    , CAST({{ attribute.aggregate }}(w{{ attribute.position }}_{{ loop.index0 }}) AS BIGINT) AS w{{ attribute.position }}_{{ loop.index0 }}
    {% endfor %}
{% endfor %}
FROM coded
GROUP BY {% for word in range(words) %}k{{ word }}{{ ", " if not loop.last }}{% endfor %}
