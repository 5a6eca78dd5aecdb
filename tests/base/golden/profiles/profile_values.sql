/* sqlaudit: profile_values */
WITH target AS (
    SELECT
        "s" AS c0
    FROM patients
    LIMIT 20000
),
value_groups AS MATERIALIZED (
    SELECT
        c0,
        CASE WHEN GROUPING(c0) = 0 THEN 0 END AS column_number,
        COUNT(*) AS n
    FROM target
    GROUP BY GROUPING SETS ((c0))
),
spelled AS (
    SELECT
        column_number,
        n,
        CASE column_number WHEN 0 THEN CASE WHEN c0 IS NULL THEN 0 ELSE 1 END END AS filled,
        CASE column_number WHEN 0 THEN CAST(c0 AS VARCHAR) END AS spelling,
        CAST(NULL AS INTEGER) AS whole,
        CAST(NULL AS DOUBLE) AS whole_number
    FROM value_groups
),
shaped AS (
    SELECT
        column_number, n, filled, whole, whole_number, spelling,
        LOWER(TRIM(REGEXP_REPLACE(spelling, '[[:space:]]+', ' ', 'g'))) AS folded,
        LENGTH(spelling) AS characters,
        LENGTH(spelling) - LENGTH(REPLACE(spelling, ' ', '')) AS spaces
    FROM spelled
),
recognised AS (
    SELECT
        *,
        CASE
            WHEN spelling IS NULL THEN NULL
            WHEN folded IN ('', '?', '-', '--', '.', 'na', 'n/a', 'nan', 'null', 'nil', 'none', 'missing', 'unknown') THEN 'missing'
            WHEN REGEXP_MATCHES(spelling, '^[^@[:space:]]+@[^@[:space:]]+[.][A-Za-z]{2,}$') THEN 'email'
            WHEN REGEXP_MATCHES(spelling, '^([a-z]+://|www[.])[^[:space:]]+$') THEN 'url'
            WHEN REGEXP_MATCHES(spelling, '^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$') THEN 'uuid'
            WHEN REGEXP_MATCHES(spelling, '^[0-9]{1,3}([.][0-9]{1,3}){3}$') THEN 'ip_address'
            WHEN REGEXP_MATCHES(spelling, '^[0-9A-Fa-f]{0,4}(:[0-9A-Fa-f]{0,4}){3,7}$') THEN 'ip_address'
            WHEN REGEXP_MATCHES(spelling, '^[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}([T ].*)?$') THEN 'date'
            WHEN REGEXP_MATCHES(spelling, '^[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2})([T ].*)?$') THEN 'date'
            WHEN REGEXP_MATCHES(spelling, '^[0-9]{3}-[0-9]{2}-[0-9]{4}$') THEN 'national_id'
            WHEN REGEXP_MATCHES(spelling, '^[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?$') THEN 'iban'
            WHEN REGEXP_MATCHES(spelling, '^[0-9]{4}([ -]?[0-9]{4}){3}$') THEN 'card_number'
            WHEN REGEXP_MATCHES(spelling, '^[+-]?[0-9]+([.,][0-9]+)?$') AND NOT REGEXP_MATCHES(spelling, '^[+0][0-9]{8,14}$') THEN 'number'
            WHEN REGEXP_MATCHES(spelling, '^([+]|[(]?0|[(]?[0-9]{2,4}[ )/.-])[0-9 ()/.-]{6,20}$') THEN 'phone'
            WHEN characters >= 40 AND spaces >= 5 THEN 'free_text'
            WHEN REGEXP_MATCHES(spelling, '^[A-ZÀ-ÞĀ-ɏΑ-ΩЀ-Я][A-Za-zÀ-ɏΑ-ώЀ-ӿ''’-]+[.,]?( [A-ZÀ-ÞĀ-ɏΑ-ΩЀ-Я][A-Za-zÀ-ɏΑ-ώЀ-ӿ''’-]+[.,]?){1,3}$') THEN 'capitalised_words'
            ELSE 'other'
        END AS shape
    FROM shaped
)
SELECT
    column_number,
    SUM(n) AS rows_looked_at,
    SUM(n * filled) AS filled_rows,
    SUM(filled) AS distinct_values,
    MIN(n) AS smallest_group,
    SUM(CASE WHEN n < 5 THEN n ELSE 0 END) AS rows_below_5,
    SUM(CASE WHEN n = 1 THEN 1 ELSE 0 END) AS unique_rows,
    SUM(CASE WHEN n = 1 THEN filled ELSE 0 END) AS unique_values,
    SUM(n * LN(CAST(n AS DOUBLE))) AS count_log_count,
    SUM(CAST(n AS DOUBLE) * (n - 1)) AS pairs,
    MIN(characters) AS shortest,
    MAX(characters) AS longest,
    SUM(n * characters) AS all_characters,
    COUNT(DISTINCT folded) AS folded_values,
    SUM(n * whole) AS whole_rows,
    MAX(whole_number) - MIN(whole_number) AS width
    , SUM(CASE WHEN shape = 'missing' THEN n ELSE 0 END) AS missing_rows
FROM recognised
GROUP BY column_number
ORDER BY column_number
