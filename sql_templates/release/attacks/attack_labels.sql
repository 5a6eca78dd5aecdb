{# The values of a column of people with their labels at every level, from its dictionary. #}
SELECT key{% for level in levels %}, l{{ level }}{% endfor %}

FROM {{ source }}
