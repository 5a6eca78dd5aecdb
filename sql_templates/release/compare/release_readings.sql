{# What each cell can be read as: a value of the original, a label of the hierarchy, or neither. A label of several levels
   lies at the one at which all cells below the top are labels, if there is one, else at its lowest. A cell that is both
   value and label counts as the label when the release has it more often than the original has the value. A missing
   cell is the missing value, unless the release has more of them than the original: then it may be anything. #}
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
common AS (
    SELECT MIN(level) AS level
    FROM (
        SELECT labels.level
        FROM (SELECT DISTINCT label, level FROM labels) AS labels
        JOIN {{ cells }} AS cells ON labels.label = cells.t
        JOIN lowest ON labels.label = lowest.label
        WHERE lowest.level < {{ levels | length }}
        GROUP BY labels.level
        HAVING COUNT(*) = (
            SELECT COUNT(*)
            FROM {{ cells }} AS below
            LEFT JOIN lowest ON below.t = lowest.label
            WHERE below.t IS NOT NULL AND COALESCE(lowest.level, 0) < {{ levels | length }}
        )
    ) AS shared
),
missing AS (
    SELECT COALESCE(SUM(row_count), 0) AS rows_missing, MAX(id) AS number
    FROM {{ values }}
    WHERE key IS NULL
),
read AS (
    SELECT
        cells.code, cells.t, cells.n,
        COALESCE(words.id, CASE WHEN cells.t IS NULL THEN missing.number END) AS number,
        lowest.level AS lowest,
        CASE WHEN lowest.level < {{ levels | length }} THEN common.level END AS common,
        CASE
            WHEN cells.t IS NULL THEN CASE WHEN cells.n > missing.rows_missing THEN 'all' ELSE 'value' END
            WHEN words.id IS NOT NULL AND (lowest.level IS NULL OR cells.n <= words.row_count) THEN 'value'
            WHEN lowest.level IS NOT NULL THEN 'label'
            ELSE 'other'
        END AS reading
    FROM {{ cells }} AS cells
    CROSS JOIN missing
    CROSS JOIN common
    LEFT JOIN {{ values }} AS words ON cells.t = words.key
    LEFT JOIN lowest ON cells.t = lowest.label
)
SELECT
    code, t, n, number, reading,
    CAST(COALESCE(common, lowest) AS INTEGER) AS level,
    common IS NOT NULL AND BOOL_OR(common IS NOT NULL AND reading = 'label') OVER () AS is_common
FROM read
