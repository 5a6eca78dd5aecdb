{# Cell values, only for a user who asked to see them: the first and the last in the order of the column's type, and the
   most frequent ones with their rows. #}
{% import "profiles/_profile.sql" as parts with context %}
WITH {{ parts.target(source, columns, share, none) }},
{{ parts.value_groups(columns) }},
ranked AS (
    SELECT
        column_number,
        n,
        {{ parts.by_column(columns, "any", "CAST(? AS VARCHAR)", "VARCHAR") }} AS spelling,
        ROW_NUMBER() OVER (PARTITION BY column_number ORDER BY {% for column in columns %}c{{ loop.index0 }}{{ ", " if not loop.last }}{% endfor %}) AS from_first,
        ROW_NUMBER() OVER (PARTITION BY column_number ORDER BY {% for column in columns %}c{{ loop.index0 }} DESC{{ ", " if not loop.last }}{% endfor %}) AS from_last,
        ROW_NUMBER() OVER (PARTITION BY column_number ORDER BY n DESC{% for column in columns %}, c{{ loop.index0 }}{% endfor %}) AS by_rows
    FROM value_groups
    WHERE {% for column in columns %}c{{ loop.index0 }} IS NOT NULL{{ " OR " if not loop.last }}{% endfor %}

)
SELECT column_number, spelling, n, from_first, from_last, by_rows
FROM ranked
WHERE from_first = 1 OR from_last = 1 OR by_rows <= {{ most }}
ORDER BY column_number, by_rows
