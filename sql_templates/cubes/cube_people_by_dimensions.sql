{# The people of a table, one row for each of their combinations of dimensions; without a column of people, its rows. #}
SELECT {{ "DISTINCT " if entity }}{% for value, name in columns %}{{ ", " if not loop.first }}{{ value }} AS {{ name }}{% endfor %}{% if entity %}, {{ entity }} AS {{ person }}{% endif %}

FROM {{ source }}
