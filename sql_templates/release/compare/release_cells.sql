{# Every cell with the rows that hold it, its level, and what of the original lies under it: rows, different values,
   entropy in bits, width. A cell that is neither a value nor a label lies at the lowest level at which all values
   under it have one label. #}
WITH used AS (
    SELECT g{{ place }} AS code, SUM(n) AS m
    FROM {{ release }}
    WHERE c IS NOT NULL
    GROUP BY g{{ place }}
),
under AS (
    SELECT
        cover.cell,
        BOOL_AND(cover.fits) AS fits,
        BOOL_AND(cover.is_exact) AS is_exact,
        CAST(SUM(words.row_count) AS BIGINT) AS covered_rows,
        COUNT(*) AS covered_values,
        SUM(words.row_count * LOG2(words.row_count)) AS bits,
        {% if numeric %}
        MAX(TRY_CAST(words.v AS DOUBLE)) - MIN(TRY_CAST(words.v AS DOUBLE)) AS width,
        {% else %}
        CAST(NULL AS DOUBLE) AS width,
        {% endif %}
        CASE
            {% for level in levels %}
            WHEN COUNT(words.l{{ level }}) = COUNT(*) AND MIN(words.l{{ level }}) = MAX(words.l{{ level }}) THEN {{ level }}
            {% endfor %}
            WHEN TRUE THEN {{ height }}
        END AS lowest
    FROM {{ cover }} AS cover
    JOIN {{ values }} AS words ON cover.word = words.id
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
            WHEN readings.reading = 'all' THEN {{ height }}
            ELSE under.lowest
        END AS INTEGER
    ) AS level,
    under.covered_rows,
    under.covered_values,
    CASE WHEN under.covered_values > 1 THEN LOG2(under.covered_rows) - under.bits / under.covered_rows ELSE 0.0 END AS entropy,
    under.width,
    readings.reading <> 'value' AND NOT under.is_exact AND under.fits AND under.covered_values = {{ all_values }} AS is_whole
FROM {{ readings }} AS readings
JOIN under ON readings.code = under.cell
LEFT JOIN used ON readings.code = used.code
