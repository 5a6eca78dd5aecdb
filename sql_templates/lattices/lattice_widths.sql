{# The largest place at every level: how many bits a level needs. #}
SELECT
{% for level in range(levels) %}
    MAX(x{{ level }}) AS largest_{{ level }}{{ "," if not loop.last }}
{% endfor %}
FROM {{ source }} AS places
