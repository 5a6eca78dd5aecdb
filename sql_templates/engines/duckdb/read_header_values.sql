-- in how many columns of a CSV file the field of the first line is a value of the column, too
SELECT list_sum([{% for column in columns %}CAST(coalesce(bool_or({{ column }} = ${{ loop.index }}), FALSE) AS INTEGER){{ ', ' if not loop.last }}{% endfor %}])
FROM {{ source }}
