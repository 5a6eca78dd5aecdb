{# How a release differs from the same release made again: the number of rows that only one of the two has
   (equal rows count as often as they occur), and for the columns of each key together the different values that only the release has. #}
WITH released AS (
    SELECT {% for column in released_columns %}CAST({{ column }} AS VARCHAR) AS c{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}
    FROM {{ released }}
),

again AS (
    SELECT {% for column in again_columns %}CAST({{ column }} AS VARCHAR) AS c{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}
    FROM {{ again }}
)

SELECT
    (SELECT COUNT(*) FROM (SELECT * FROM released EXCEPT ALL SELECT * FROM again) AS added) AS added_rows,
    (SELECT COUNT(*) FROM (SELECT * FROM again EXCEPT ALL SELECT * FROM released) AS missing) AS missing_rows
    {%- for key in keys %},
    (SELECT COUNT(*) FROM (SELECT c{{ key | join(", c") }} FROM released EXCEPT SELECT c{{ key | join(", c") }} FROM again) AS cells) AS cells_{{ loop.index }}
    {%- endfor %}
