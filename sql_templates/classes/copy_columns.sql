{# The columns and expressions that an audit reads, under short names. #}
SELECT
    {% for column in columns %}
    {{ column }} AS c{{ loop.index }}{{ "," if not loop.last }}
    {% endfor %}
FROM {{ source }}
