-- whether a JSON file has a number anywhere that a DOUBLE would change
{% from 'engines/duckdb/_exact.sql' import changed %}
{% from 'engines/duckdb/_json.sql' import numbers %}
WITH written AS (
    SELECT unnest(list_filter({{ numbers('json') }}, lambda t: length(t) > 15 OR contains(lower(t), 'e'))) AS number
    FROM {{ source }}
)
SELECT coalesce(bool_or({{ changed('number', 'DOUBLE') }} OR TRY_CAST(number AS DOUBLE) IS NULL), FALSE)
FROM written
