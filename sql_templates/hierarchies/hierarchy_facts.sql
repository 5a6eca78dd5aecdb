{# Every level of a dictionary: its groups, their rows, the values without a label, and the groups that lie in several
   groups of the next level. #}
WITH
{% for level in range(height + 1) %}
{% set label = "l" ~ level if level else "key" %}
{% set next = "l" ~ (level + 1) %}
groups_{{ level }} AS (
    SELECT
        SUM(row_count) AS row_count,
        SUM(CASE WHEN key IS NOT NULL AND {{ label }} IS NULL THEN 1 ELSE 0 END) AS uncovered_values,
        SUM(CASE WHEN key IS NOT NULL AND {{ label }} IS NULL THEN row_count ELSE 0 END) AS uncovered_rows
    {% if level < height %}
        , CASE WHEN COUNT(DISTINCT {{ next }}) + MAX(CASE WHEN {{ next }} IS NULL THEN 1 ELSE 0 END) > 1 THEN 1 ELSE 0 END AS split
    {% else %}
        , 0 AS split
    {% endif %}
    FROM {{ source }}
    GROUP BY {{ label }}
){{ "," if not loop.last }}
{% endfor %}
{% for level in range(height + 1) %}
SELECT
    {{ level }} AS level,
    COUNT(*) AS group_count,
    COALESCE(MIN(row_count), 0) AS smallest,
    COALESCE(MAX(row_count), 0) AS largest,
    COALESCE(SUM(row_count), 0) AS rows_in_all,
    COALESCE(SUM(uncovered_values), 0) AS uncovered_values,
    COALESCE(SUM(uncovered_rows), 0) AS uncovered_rows,
    COALESCE(SUM(split), 0) AS split_groups
FROM groups_{{ level }}
{{ "UNION ALL" if not loop.last }}
{% endfor %}
ORDER BY level
