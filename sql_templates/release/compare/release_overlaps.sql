{# For each column, how many values of the original lie in more than one cell of rows that are not suppressed. #}
SELECT
    {% for cover in covers %}
    (
        SELECT COUNT(*)
        FROM (
            SELECT cover.word
            FROM {{ cover }} AS cover
            JOIN (SELECT DISTINCT g{{ loop.index }} AS cell FROM {{ classes }} WHERE NOT is_whole) AS used
                ON cover.cell = used.cell
            GROUP BY cover.word
            HAVING COUNT(*) > 1
        ) AS shared
    ) AS overlaps_{{ loop.index }}{{ "," if not loop.last }}
    {% endfor %}
