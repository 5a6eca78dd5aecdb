{# Histograms of parts, merged: counts of rows add up. #}
SELECT {{ columns | join(", ") }}, s, CAST(SUM(c) AS BIGINT) AS c
FROM read_parquet([{% for part in parts %}'{{ part }}'{{ ", " if not loop.last }}{% endfor %}])
GROUP BY {{ columns | join(", ") }}, s
