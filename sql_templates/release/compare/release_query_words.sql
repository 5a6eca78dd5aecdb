{# The numbers of allowed values; `u` tells groups apart where the query groups by the column, `x` is
   what linked conditions say of the value. #}
SELECT CAST(words.id AS INTEGER) AS word, {{ "CAST(words.id AS INTEGER)" if grouped else "0" }} AS u, {{ "CAST(allowed.x AS BIGINT) AS x, " if signed }}words.row_count
FROM {{ words }} AS words
{% if allowed %}
JOIN {{ allowed }} AS allowed
    ON {{ "CAST(TRY_CAST(allowed.key AS DOUBLE) AS VARCHAR)" if float else "allowed.key" }} IS NOT DISTINCT FROM words.key
{% endif %}
