-- which columns of a text file have a value that the column's type would change; which dates and times are written otherwise
{% from 'engines/duckdb/_exact.sql' import changed %}
{% from 'engines/duckdb/_times.sql' import written_otherwise %}
SELECT
{% for text, type in columns %}
    coalesce(bool_or({{ changed(text, type) }}), FALSE){{ ',' if times or not loop.last }}
{% endfor %}
{% for text, type, format in times %}
    {{ written_otherwise(text, type, format) }}{{ '' if loop.last else ',' }}
{% endfor %}
FROM {{ source }}
