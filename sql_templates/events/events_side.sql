{# The columns of one of two tables under short names; of persons each different row once, and none without a person. #}
SELECT{{ " DISTINCT" if distinct }}
{% for name, column in columns %}
    {{ column }} AS {{ name }},
{% endfor %}
    {{ entity }} AS e
FROM {{ source }}
{% if distinct %}
WHERE {{ entity }} IS NOT NULL
{% endif %}
