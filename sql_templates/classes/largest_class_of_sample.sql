{# The largest class among the first rows: a guess at how wide lanes must be, checked afterwards. #}
{% import "classes/_target.sql" as parts with context %}
{% set key = parts.key_columns(keys, false) %}
WITH {{ parts.target(source, keys, none, none, false) }}
SELECT MAX(n) AS largest
FROM (
    SELECT COUNT(*) AS n
    FROM (SELECT {{ key }} FROM target LIMIT {{ sample }}) AS sampled
    GROUP BY {{ key }}
) AS counted
