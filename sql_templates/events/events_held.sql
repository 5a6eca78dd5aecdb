{# Who holds which sensitive value; a missing one is no value. With what stays the same of persons, a value is another one
   for each of its values: all of it is known besides, so that only persons with the same are counted. #}
SELECT DISTINCT
    CAST(e AS INTEGER) AS person,
    {% if static %}DENSE_RANK() OVER (ORDER BY {{ column }}, {{ static | join(", ") }}){% else %}{{ column }}{% endif %} AS value
FROM {{ source }}
WHERE {{ column }} <> 0
