{# The labels of values by their keys, for levels whose labels only the database can tell. #}
SELECT
    key
{% for level in levels %}
    , l{{ level }}
{% endfor %}
FROM {{ source }}
