{# For each pair of columns: how many different pairs of values there are, and in how many of them the two differ. Columns
   with as many pairs as values say the same in other words. #}
{% import "profiles/_profile.sql" as parts with context %}
WITH {{ parts.target(source, columns, none, none) }},
value_pairs AS (
    SELECT
    {% for column in columns %}
        c{{ loop.index0 }},
    {% endfor %}
        CASE{% for first, second in pairs %} WHEN GROUPING(c{{ first }}) = 0 AND GROUPING(c{{ second }}) = 0 THEN {{ loop.index0 }}{% endfor %} END AS pair_number
    FROM target
    GROUP BY GROUPING SETS ({% for first, second in pairs %}(c{{ first }}, c{{ second }}){{ ", " if not loop.last }}{% endfor %})
)
SELECT
    pair_number,
    COUNT(*) AS value_pairs,
    SUM(CASE pair_number
    {% for first, second in pairs %}
        WHEN {{ loop.index0 }} THEN CASE WHEN CAST(c{{ first }} AS VARCHAR) IS DISTINCT FROM CAST(c{{ second }} AS VARCHAR) THEN 1 ELSE 0 END
    {% endfor %}
    END) AS differing
FROM value_pairs
GROUP BY pair_number
ORDER BY pair_number
