{# Values that lie in several cells of rows that are not suppressed as a whole. #}
SELECT COUNT(*) AS split
FROM (
    SELECT cover.word
    FROM {{ cover }} AS cover
    JOIN (SELECT DISTINCT g{{ place }} AS cell FROM {{ classes }} WHERE NOT is_whole) AS used ON cover.cell = used.cell
    GROUP BY cover.word
    HAVING COUNT(*) > 1
) AS several
