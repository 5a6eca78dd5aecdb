-- texts of a file with decimal commas, with points in the columns of numbers
SELECT * REPLACE ({% for column in columns %}REPLACE({{ column }}, ',', '.') AS {{ column }}{{ ', ' if not loop.last }}{% endfor %})
FROM {{ source }}
