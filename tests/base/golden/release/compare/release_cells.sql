/* sqlaudit: release_cells */
WITH used AS (
    SELECT g2 AS code, SUM(n) AS m
    FROM patients
    WHERE c IS NOT NULL
    GROUP BY g2
),
under AS (
    SELECT
        cover.cell,
        BOOL_AND(cover.fits) AS fits,
        BOOL_AND(cover.is_exact) AS is_exact,
        CAST(SUM(words.row_count) AS BIGINT) AS covered_rows,
        COUNT(*) AS covered_values,
        SUM(words.row_count * LOG2(words.row_count)) AS bits,
        MAX(TRY_CAST(words.v AS DOUBLE)) - MIN(TRY_CAST(words.v AS DOUBLE)) AS width,
        CASE
            WHEN TRUE THEN 1
        END AS lowest
    FROM patients AS cover
    JOIN patients AS words ON cover.word = words.id
    GROUP BY cover.cell
)
SELECT
    readings.code,
    CAST(COALESCE(used.m, 0) AS BIGINT) AS m,
    under.fits,
    readings.reading = 'value' OR under.is_exact AS is_value,
    readings.reading = 'other' AND NOT under.is_exact AS is_odd,
    CAST(
        CASE
            WHEN readings.reading = 'value' AND readings.is_common THEN readings.level
            WHEN readings.reading = 'value' OR under.is_exact THEN 0
            WHEN readings.reading = 'label' THEN readings.level
            WHEN readings.reading = 'all' THEN 1
            ELSE under.lowest
        END AS INTEGER
    ) AS level,
    under.covered_rows,
    under.covered_values,
    CASE WHEN under.covered_values > 1 THEN LOG2(under.covered_rows) - under.bits / under.covered_rows ELSE 0.0 END AS entropy,
    under.width,
    readings.reading <> 'value' AND NOT under.is_exact AND under.fits AND under.covered_values = 4 AS is_whole
FROM patients AS readings
JOIN under ON readings.code = under.cell
LEFT JOIN used ON readings.code = used.code
