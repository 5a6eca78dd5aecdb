-- in how many columns of a CSV file the field of the first line is a value of the column, too
SELECT {% for column in columns %}CAST(coalesce(bool_or({{ column }} = ${{ loop.index }}), FALSE) AS INTEGER){{ '' if loop.last else ' + ' }}{% endfor %}

FROM {{ source }}
