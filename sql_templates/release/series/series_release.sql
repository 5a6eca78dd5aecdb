{# One release of a series by itself: its rows, those that name no one, and its persons; its classes, the smallest, those in
   which a value repeats with their rows, the fewest values of a class, and rows without a value. #}
WITH given AS (
    SELECT {% for key in qi %}{{ key }} AS q{{ loop.index }}, {% endfor %}{{ entity }} AS e, {{ sensitive }} AS s
    FROM {{ source }}
),
{% set names %}{% for key in qi %}q{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}{% endset %}
cells AS (
    SELECT {{ names }}, s, COUNT(*) AS n
    FROM given
    GROUP BY {{ names }}, s
),
classes AS (
    SELECT SUM(n) AS size, COUNT(*) AS kinds, SUM(CASE WHEN s IS NULL THEN n ELSE 0 END) AS without
    FROM cells
    GROUP BY {{ names }}
),
persons AS (
    SELECT COUNT(*) AS row_total, COUNT(e) AS named, COUNT(DISTINCT e) AS different
    FROM given
)
SELECT
    (SELECT row_total FROM persons) AS row_total,
    (SELECT row_total - named FROM persons) AS nameless,
    (SELECT different FROM persons) AS different,
    COUNT(*) AS classes,
    CAST(MIN(size) AS BIGINT) AS smallest,
    COUNT(CASE WHEN kinds < size THEN 1 END) AS repeating,
    CAST(COALESCE(SUM(CASE WHEN kinds < size THEN size END), 0) AS BIGINT) AS repeating_rows,
    MIN(kinds) AS fewest_values,
    CAST(COALESCE(SUM(without), 0) AS BIGINT) AS without_value
FROM classes
