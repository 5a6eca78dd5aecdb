/* sqlaudit: release_readings */
WITH labels AS (
    SELECT DISTINCT l1 AS label, 1 AS level FROM patients WHERE l1 IS NOT NULL
    
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
        JOIN patients AS cells ON labels.label = cells.t
        JOIN lowest ON labels.label = lowest.label
        WHERE lowest.level < 1
        GROUP BY labels.level
        HAVING COUNT(*) = (
            SELECT COUNT(*)
            FROM patients AS below
            LEFT JOIN lowest ON below.t = lowest.label
            WHERE below.t IS NOT NULL AND COALESCE(lowest.level, 0) < 1
        )
    ) AS shared
),
missing AS (
    SELECT COALESCE(SUM(row_count), 0) AS rows_missing, MAX(id) AS number
    FROM patients
    WHERE key IS NULL
),
read AS (
    SELECT
        cells.code, cells.t, cells.n,
        COALESCE(words.id, CASE WHEN cells.t IS NULL THEN missing.number END) AS number,
        lowest.level AS lowest,
        CASE WHEN lowest.level < 1 THEN common.level END AS common,
        CASE
            WHEN cells.t IS NULL THEN CASE WHEN cells.n > missing.rows_missing THEN 'all' ELSE 'value' END
            WHEN words.id IS NOT NULL AND (lowest.level IS NULL OR cells.n <= words.row_count) THEN 'value'
            WHEN lowest.level IS NOT NULL THEN 'label'
            ELSE 'other'
        END AS reading
    FROM patients AS cells
    CROSS JOIN missing
    CROSS JOIN common
    LEFT JOIN patients AS words ON cells.t = words.key
    LEFT JOIN lowest ON cells.t = lowest.label
)
SELECT
    code, t, n, number, reading,
    CAST(COALESCE(common, lowest) AS INTEGER) AS level,
    common IS NOT NULL AND BOOL_OR(common IS NOT NULL AND reading = 'label') OVER () AS is_common
FROM read
