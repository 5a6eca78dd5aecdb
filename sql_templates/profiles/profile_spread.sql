{# How many rows the values of each column have, without a value: bars of about as many values each (one, where there are no
   more values than bars), the most frequent first; bar 0 has all values of fewer than `least` rows. #}
{% import "profiles/_profile.sql" as parts with context %}
WITH {{ parts.target(source, columns, none, none) }},
{{ parts.value_groups(columns) }},
bars AS (
    SELECT
        column_number,
        n,
        CASE WHEN n < {{ least }} THEN 0 ELSE NTILE({{ bars }}) OVER (PARTITION BY column_number, CASE WHEN n < {{ least }} THEN 1 ELSE 0 END ORDER BY n DESC) END AS bar
    FROM value_groups
)
SELECT column_number, bar, SUM(n) AS bar_rows, COUNT(*) AS bar_values
FROM bars
GROUP BY column_number, bar
ORDER BY column_number, bar
