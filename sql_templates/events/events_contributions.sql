{# People by their number of rows, and of groups: combinations of `keys`, of which each packs some codes into one number.
   A missing value has a code of its own, as in GROUP BY. #}
{% import "column_sets/_columns_source.sql" as parts with context %}
WITH combinations AS (
    SELECT e, COUNT(*) AS members
    FROM {{ source }}
    GROUP BY e, {% for key in packed %}{{ parts.packed(key) }}{{ ", " if not loop.last }}{% endfor %}

),
people AS (
    SELECT CAST(SUM(members) AS BIGINT) AS own_rows, COUNT(*) AS own_groups FROM combinations GROUP BY e
)
SELECT own_rows, CAST(NULL AS BIGINT) AS own_groups, COUNT(*) AS persons FROM people GROUP BY own_rows
UNION ALL
SELECT NULL, own_groups, COUNT(*) FROM people GROUP BY own_groups
