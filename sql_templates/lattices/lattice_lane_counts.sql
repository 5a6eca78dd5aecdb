{# The counts of sensitive values in the finest classes, one row a value that occurs there: `part` is its count in the
   table. `lanes` are (lane, word, shift). #}
SELECT {{ key | join(", ") }}{{ ", " if key }}lane, c, CAST(SUM(c) OVER (PARTITION BY lane) AS BIGINT) AS part
FROM (
{% for lane, word, shift in lanes %}
    SELECT {{ key | join(", ") }}{{ ", " if key }}{{ lane }} AS lane, ({{ word ~ " >> " ~ shift if shift else word }}) & {{ mask }} AS c
    FROM {{ base }} AS base
    {{ "UNION ALL" if not loop.last }}
{% endfor %}
) AS unpacked
WHERE c > 0
