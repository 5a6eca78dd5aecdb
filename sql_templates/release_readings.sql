{# What each cell can be read as: a value of the original, a label of the hierarchy (at its lowest level), or neither. A cell
   that is both counts as the label when the release has it more often than the original has the value. A missing cell
   is the missing value, unless the release has more of them than the original: then it may be anything. #}
WITH labels AS (
    {% for level in levels %}
    SELECT DISTINCT l{{ level }} AS label, {{ level }} AS level FROM {{ values }} WHERE l{{ level }} IS NOT NULL
    {{ "UNION ALL" if not loop.last }}
    {% else %}
    SELECT CAST(NULL AS VARCHAR) AS label, 0 AS level WHERE FALSE
    {% endfor %}
),
lowest AS (
    SELECT label, MIN(level) AS level
    FROM labels
    GROUP BY label
),
missing AS (
    SELECT COALESCE(SUM(row_count), 0) AS rows_missing, MAX(id) AS number
    FROM {{ values }}
    WHERE key IS NULL
)
SELECT
    cells.code, cells.t, cells.n,
    COALESCE(words.id, CASE WHEN cells.t IS NULL THEN missing.number END) AS number,
    CAST(lowest.level AS INTEGER) AS level,
    CASE
        WHEN cells.t IS NULL THEN CASE WHEN cells.n > missing.rows_missing THEN 'all' ELSE 'value' END
        WHEN words.id IS NOT NULL AND (lowest.level IS NULL OR cells.n <= words.row_count) THEN 'value'
        WHEN lowest.level IS NOT NULL THEN 'label'
        ELSE 'other'
    END AS reading
FROM {{ cells }} AS cells
CROSS JOIN missing
LEFT JOIN {{ values }} AS words ON cells.t = words.key
LEFT JOIN lowest ON cells.t = lowest.label
