{# The records with the highest scores, by their kept columns; only run when values may be shown. `weights` are the
   scores of one minimal sample unique of each size. #}
{% import "column_sets/records/_records_uniques.sql" as uniques with context %}
WITH {{ uniques.found() }},
{{ uniques.by_record(sizes) }}
SELECT {% for column in range(shown) %}v{{ column }}, {% endfor %}{% for size in sizes %}n{{ size }}{{ ", " if not loop.last }}{% endfor %}

FROM by_record
JOIN {{ source if tables else "people" }} AS people ON by_record.record = people.{{ "rowid" if tables else "number" }}
ORDER BY {% for size in sizes %}n{{ size }} * {{ weights[loop.index0] }}{{ " + " if not loop.last }}{% endfor %} DESC, {% for size in sizes %}n{{ size }} DESC, {% endfor %}{% for column in range(shown) %}v{{ column }}{{ ", " if not loop.last }}{% endfor %}

LIMIT {{ limit }}
