{# How many records have the same numbers of minimal sample uniques of each size. #}
{% import "column_sets/records/_records_uniques.sql" as uniques with context %}
WITH {{ uniques.found() }},
{{ uniques.by_record(sizes) }}
SELECT {% for size in sizes %}n{{ size }}, {% endfor %}COUNT(*) AS records
FROM by_record
GROUP BY {% for size in sizes %}n{{ size }}{{ ", " if not loop.last }}{% endfor %}
