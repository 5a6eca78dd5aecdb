{# The rows with one key for all rows of a person: which other persons have the same combinations of the
   quasi-identifiers. Combinations become numbers, persons lists of numbers, lists numbers. Missing values are equal to
   each other here; with `solo` a row with one is a combination of its own. With `alike` people are compared already
   (people_alike.sql). Spark has no numbers in an order without bringing all rows into one task; there a list has the
   combinations themselves, and the number of one of the people who share it. #}
{% import "classes/_rows.sql" as rows %}
{% import "classes/_target.sql" as parts with context %}
{% set key = rows.key_columns(keys, solo) %}
WITH {{ parts.target(source, keys, sensitive, entity, solo) }}
{%- if not alike %},
numbered AS (
    SELECT e, {{ "STRUCT(" ~ key ~ ")" if dialect == "spark" else "DENSE_RANK() OVER (ORDER BY " ~ key ~ ")" }} AS combination
    FROM (SELECT DISTINCT {{ key }}, e FROM target) AS combinations
),
lists AS (
    SELECT e, {{ "SORT_ARRAY(COLLECT_LIST(combination))" if dialect == "spark" else "LIST(combination ORDER BY combination)" }} AS known
    FROM numbered
    GROUP BY e
),
alike AS (
{% if dialect == "spark" %}
    SELECT e, MIN(number) OVER (PARTITION BY known) AS known
    FROM (SELECT *, ROW_NUMBER() OVER () AS number FROM lists) AS people
{% else %}
    SELECT e, DENSE_RANK() OVER (ORDER BY known) AS known
    FROM lists
{% endif %}
)
{%- endif %}

SELECT {% for column in known %}alike.{{ column }}, {% endfor %}target.e, target.s
FROM target
JOIN {{ alike ~ " AS " if alike }}alike ON target.e = alike.e
