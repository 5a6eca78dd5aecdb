{# A table that is read as text, with some columns in the types that they have otherwise. #}
SELECT
    {% for column in columns %}
    {{ "CAST(" ~ column.name ~ " AS " ~ column.type ~ ")" if column.type else column.name }} AS {{ column.name }}{{ "," if not loop.last }}
    {% endfor %}
FROM {{ source }} AS read_as_text
