{# Whether each class is the product of its persons and its values, as when the two tables of a bucketized release are
   joined: m persons and m values make n = m*m rows. Then each combination of the other columns stands beside each value
   as often as both together say (c * n = n_other * n_value), and m divides how often either occurs. `odd` counts what
   is otherwise; `telling` what could not be so by itself: several values beside several combinations in nine rows or more.
   `unlike` counts cells that are not the same in each of the `classes`: a balanced design crosses everything with
   everything, while the buckets of a release differ in their persons. #}
{% macro lettered(columns, letter, said=false) -%}
{% for column in columns %}{{ column ~ " AS " if said }}{{ letter }}{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}
{%- endmacro %}
WITH cells AS (
    SELECT {{ lettered(keys, "k", true) ~ ", " if keys }}{{ lettered(others, "o", true) }}, {{ lettered(sensitive, "s", true) }}, COUNT(*) AS c
    FROM {{ source }} AS listed
    GROUP BY {{ (keys + others + sensitive) | join(", ") }}
),
counted AS (
    SELECT
        c,
        {{ lettered(others, "o") }},
        {{ lettered(sensitive, "s") }},
        CAST(SUM(c) OVER ({{ "PARTITION BY " ~ lettered(keys, "k") if keys }}) AS BIGINT) AS n,
        CAST(SUM(c) OVER (PARTITION BY {{ lettered(keys, "k") ~ ", " if keys }}{{ lettered(others, "o") }}) AS BIGINT) AS n_other,
        CAST(SUM(c) OVER (PARTITION BY {{ lettered(keys, "k") ~ ", " if keys }}{{ lettered(sensitive, "s") }}) AS BIGINT) AS n_value
    FROM cells
),
alike AS (
    SELECT
        c,
        n,
        n_other,
        n_value,
        COUNT(*) OVER (PARTITION BY c, {{ lettered(others, "o") }}, {{ lettered(sensitive, "s") }}) AS same,
        {% if keys %}
        (SELECT COUNT(*) FROM (SELECT DISTINCT {{ lettered(keys, "k") }} FROM cells) AS classes_of) AS classes
        {% else %}
        1 AS classes
        {% endif %}
    FROM counted
),
rooted AS (
    SELECT c, n, n_other, n_value, same, classes, CAST(ROUND(SQRT(n)) AS BIGINT) AS m FROM alike
)
SELECT
    COUNT(CASE WHEN m * m = n AND c * n = n_other * n_value AND n_other % m = 0 AND n_value % m = 0 THEN NULL ELSE 1 END) AS odd,
    COUNT(CASE WHEN n >= 9 AND n_other < n AND n_value < n THEN 1 END) AS telling,
    COUNT(CASE WHEN same = classes THEN NULL ELSE 1 END) AS unlike,
    COALESCE(MAX(classes), 0) AS classes
FROM rooted
