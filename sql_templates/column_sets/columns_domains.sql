{# The largest code of every column. #}
SELECT
{% for name in names %}
    MAX({{ name }}){{ "," if not loop.last }}
{% endfor %}
FROM {{ source }}
