{# One row for each different event of each person. A row in which one of `alone` is missing is an event that nothing
   equals. With a `moment` an event at each moment is a further one. With `repeats` the i-th repeat of an event is a further one. #}
{% import "column_sets/_columns_source.sql" as parts with context %}
WITH coded AS (
    SELECT
        e AS person,
    {% for key in packed %}
        {{ parts.packed(key) }} AS k{{ loop.index0 }},
    {% endfor %}
    {% if moment is not none %}
        {{ moment }} AS moment,
    {% endif %}
    {% if alone %}
        CASE WHEN {{ parts.solo(alone, true) }} THEN ROW_NUMBER() OVER () ELSE 0 END AS own_row
    {% endif %}
    FROM {{ source }}
)
SELECT
    person,
{% for key in packed %}
    k{{ loop.index0 }},
{% endfor %}
    {{ "own_row" if alone else "0 AS own_row" }},
{% if moment is not none %}
    moment,
{% endif %}
    {{ "UNNEST(RANGE(1, COUNT(*) + 1))" if repeats else "1" }} AS nth
FROM coded
GROUP BY person, {% for key in packed %}k{{ loop.index0 }}{{ ", " if not loop.last }}{% endfor %}{{ ", own_row" if alone }}{{ ", moment" if moment is not none }}
