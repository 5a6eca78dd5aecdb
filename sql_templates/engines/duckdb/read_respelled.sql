-- which columns of text have values that are equal to their collation and written differently
SELECT
{% for column in columns %}
    EXISTS (SELECT 1 FROM {{ source }} GROUP BY {{ column }} HAVING min({{ column }} COLLATE "binary") <> max({{ column }} COLLATE "binary")){{ '' if loop.last else ',' }}
{% endfor %}
