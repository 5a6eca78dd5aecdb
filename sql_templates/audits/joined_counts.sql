{# Whether each class is a join of its persons with a table of values and their counts: a value stands there once for each
   person, with one count, and the counts of all values add up to the persons. `odd` counts the classes that are otherwise;
   `persons` is the fewest of a class; `telling` says whether it can be chance: three persons and two values in a class. #}
WITH values_of AS (
    SELECT
    {% for key in keys %}
        {{ key }} AS k{{ loop.index }},
    {% endfor %}
        COUNT(*) AS n,
        MIN({{ count }}) AS low,
        MAX({{ count }}) AS high,
        COUNT({{ count }}) AS known
    FROM {{ source }} AS listed
    GROUP BY {{ (keys + sensitive) | join(", ") }}
),
classes AS (
    SELECT
        MIN(n) AS fewest,
        MAX(n) AS most,
        SUM(low) AS persons,
        COUNT(*) AS distinct_values,
        SUM(CASE WHEN low = high AND low >= 1 AND known = n THEN 0 ELSE 1 END) AS unlike
    FROM values_of
    {% if keys %}
    GROUP BY {% for _ in keys %}k{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}

    {% endif %}
)
SELECT
    COUNT(CASE WHEN unlike = 0 AND fewest = most AND fewest = persons THEN NULL ELSE 1 END) AS odd,
    COUNT(CASE WHEN persons >= 3 AND distinct_values >= 2 THEN 1 END) AS telling,
    MIN(fewest) AS persons
FROM classes
