{# The classes that fail for one sensitive attribute or another, each once, with the words of their keys. #}
SELECT
    0 AS id,
{% for word in words %}
    CAST({{ word }} AS BIGINT) AS k{{ loop.index0 }},
{% endfor %}
    CAST(table_rows AS BIGINT) AS n
FROM (
{% for part in parts %}
    SELECT failing_{{ loop.index }}.* FROM {{ part }} AS failing_{{ loop.index }}{{ " UNION" if not loop.last }}

{% endfor %}
) AS failing
