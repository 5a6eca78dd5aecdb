{# The rows of a release, in the order of what is published. #}
SELECT
{% for name in names %}
    {{ name }}{{ "," if not loop.last }}
{% endfor %}
FROM {{ source }} AS released
ORDER BY
{% for name in names %}
    CAST({{ name }} AS VARCHAR){{ ' COLLATE "C"' if dialect == "postgres" }} NULLS LAST{{ "," if not loop.last }}
{% endfor %}
