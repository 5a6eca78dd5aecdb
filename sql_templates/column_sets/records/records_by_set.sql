{# How many records each column set is a minimal sample unique of. #}
{% import "column_sets/records/_records_uniques.sql" as uniques with context %}
WITH {{ uniques.found() }}
SELECT {% for word in range(words) %}w{{ word }}, {% endfor %}COUNT(*) AS records
FROM found
GROUP BY {% for word in range(words) %}w{{ word }}{{ ", " if not loop.last }}{% endfor %}
