{# The rows of classes that fail for one sensitive attribute or another; with several, each class counts once. #}
SELECT CAST(COALESCE(SUM(table_rows), 0) AS BIGINT) AS failing_rows
FROM (
{% for part in parts %}
    SELECT failing_{{ loop.index }}.* FROM {{ part }} AS failing_{{ loop.index }}{{ " UNION" if not loop.last }}

{% endfor %}
) AS failing
