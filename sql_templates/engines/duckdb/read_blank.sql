-- how many rows of a CSV file have no value in any column
{# a list and no chain of AND: a chain of a thousand is too deep an expression #}
SELECT count(*) FILTER (NOT list_contains([{% for column in columns %}{{ column }} IS NOT NULL{{ ', ' if not loop.last }}{% endfor %}], TRUE))
FROM {{ source }}
