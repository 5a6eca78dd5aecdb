{# Rows that a file has otherwise, or not, or too many: it is read with types of its own. An empty text is missing there.
   rounded: True if the file has seconds of which only milliseconds are exact.
   columns: the names `row` and `cell` of a column in the rows and in the file, and its `type` in the rows. #}
WITH rows AS (
    SELECT {% for c in columns %}{% if c.type == "VARCHAR" %}NULLIF({{ c.row }}, ''){% else %}{{ c.row }}{% endif %} AS c{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}

    FROM {{ rows }} AS given
),
cells AS (
    SELECT {% for c in columns %}{% if rounded and c.type == "TIMESTAMP" %}DATE_TRUNC('millisecond', TRY_CAST({{ c.cell }} AS TIMESTAMP) + INTERVAL '500 microseconds'){% else %}TRY_CAST({{ c.cell }} AS {{ c.type }}){% endif %} AS c{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}

    FROM {{ written }} AS written
)
SELECT
    (SELECT COUNT(*) FROM (SELECT * FROM rows EXCEPT ALL SELECT * FROM cells) AS lost)
    + (SELECT COUNT(*) FROM (SELECT * FROM cells EXCEPT ALL SELECT * FROM rows) AS added) AS changed
