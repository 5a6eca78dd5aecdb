{# What the groups of a synthetic table (s) tell of the rows of the original (d) and of the holdout (h), as sums by the size of the
   group there: who is unique in which table, and, of one target, whose groups have one value, whose own value that is, and the
   sums of the measures of correct attribution. A group is a combination of keys, a cell one of keys and target.

   Parameters: counts = cells that are kept with the names of their columns, or none: `sides` as _stacked.sql has them.
   keys, target: the names of the columns in the cells, target empty = none. apart: as there. shown: whether the original's
   most common value is told. #}
{% import "release/synthetic/_stacked.sql" as rows %}
{% set by %}{% for key in keys %}{{ key }}, {% endfor %}{{ "own, " if apart }}{% endset %}
WITH cells AS (
    {% if counts %}
    SELECT {{ by }}{{ target ~ " AS t, " if target }}CAST(SUM(d) AS BIGINT) AS d, CAST(SUM(s) AS BIGINT) AS s, CAST(SUM(h) AS BIGINT) AS h
    FROM {{ counts }} AS kept
    GROUP BY {{ by }}{{ target if target else "1 = 1" }}
    {% else %}
    SELECT {{ by }}{{ target ~ " AS t, " if target }}d, s, h
    FROM (
        {{ rows.counted(sides, apart, keys | length) }}
    ) AS counted
    {% endif %}
),
{% if target %}
totals AS (
    SELECT t, CAST(SUM(d) AS BIGINT) AS d, CAST(SUM(h) AS BIGINT) AS h
    FROM cells
    GROUP BY t
),
common AS (
    SELECT t, d, h
    FROM totals
    ORDER BY d DESC, t
    LIMIT 1
),
{% endif %}
groups AS (
    SELECT
        {% if target %}
        COUNT(CASE WHEN d > 0 THEN 1 END) AS d_kinds,
        COUNT(CASE WHEN s > 0 THEN 1 END) AS s_kinds,
        COUNT(CASE WHEN h > 0 THEN 1 END) AS h_kinds,
        CAST(SUM(CASE WHEN s > 0 THEN d ELSE 0 END) AS BIGINT) AS d_met,
        CAST(SUM(CASE WHEN s > 0 THEN h ELSE 0 END) AS BIGINT) AS h_met,
        CAST(SUM(CASE WHEN s > 0 AND d > 0 AND t IS NOT DISTINCT FROM (SELECT t FROM common) THEN d ELSE 0 END) AS BIGINT) AS common_met,
        CAST(SUM(d * d) AS DOUBLE) AS d_squares,
        CAST(SUM(s * s) AS DOUBLE) AS s_squares,
        CAST(SUM(h * h) AS DOUBLE) AS h_squares,
        CAST(SUM(d * s) AS DOUBLE) AS d_products,
        CAST(SUM(h * s) AS DOUBLE) AS h_products,
        {% endif %}
        CAST(SUM(d) AS BIGINT) AS d,
        CAST(SUM(s) AS BIGINT) AS s,
        CAST(SUM(h) AS BIGINT) AS h
    FROM cells
    {% if keys or apart %}
    GROUP BY {{ by.rstrip(", ") }}
    {% endif %}
)
SELECT
    COUNT(CASE WHEN s = 1 THEN 1 END) AS s_unique,
    {% for x in ("d", "h") %}
    CAST(SUM({{ x }}) AS BIGINT) AS {{ x }}_rows,
    COUNT(CASE WHEN {{ x }} = 1 THEN 1 END) AS {{ x }}_unique,
    COUNT(CASE WHEN {{ x }} = 1 AND s > 0 THEN 1 END) AS {{ x }}_unique_there,
    COUNT(CASE WHEN {{ x }} = 1 AND s = 1 THEN 1 END) AS {{ x }}_unique_both,
    CAST(SUM(CASE WHEN s > 0 THEN {{ x }} ELSE 0 END) AS BIGINT) AS {{ x }}_there,
    {% if target %}
    CAST(SUM(CASE WHEN {{ x }}_kinds = 1 THEN {{ x }} ELSE 0 END) AS BIGINT) AS {{ x }}_pure,
    CAST(SUM(CASE WHEN s_kinds = 1 THEN {{ x }} ELSE 0 END) AS BIGINT) AS {{ x }}_in_pure,
    CAST(SUM(CASE WHEN s_kinds = 1 THEN {{ x }}_met ELSE 0 END) AS BIGINT) AS {{ x }}_disclosed,
    CAST(SUM(CASE WHEN s_kinds = 1 AND {{ x }}_kinds = 1 THEN {{ x }}_met ELSE 0 END) AS BIGINT) AS {{ x }}_disclosed_pure,
    SUM(CASE WHEN {{ x }} > 0 THEN {{ x }}_squares / {{ x }} ELSE 0 END) AS {{ x }}_cap,
    SUM(CASE WHEN s > 0 THEN {{ x }}_products / s ELSE 0 END) AS {{ x }}_dcap,
    (SELECT CAST(SUM({{ x }} * {{ x }}) AS DOUBLE) FROM totals) AS {{ x }}_total_squares,
    (SELECT {{ x }} FROM common) AS {{ x }}_common,
    {% endif %}
    {% endfor %}
    {% if target %}
    COUNT(CASE WHEN s_kinds = 1 AND d_met > 0 THEN 1 END) AS disclosive,
    CAST(SUM(CASE WHEN s_kinds = 1 THEN common_met ELSE 0 END) AS BIGINT) AS common_disclosed,
    CAST(SUM(CASE WHEN s_kinds = 1 THEN s ELSE 0 END) AS BIGINT) AS s_pure,
    SUM(CASE WHEN s > 0 THEN s_squares / s ELSE 0 END) AS s_cap,
    {% if shown %}
    (SELECT CAST(t AS VARCHAR) FROM common) AS common_value,
    {% endif %}
    {% endif %}
    CASE WHEN s < 3 THEN s WHEN s < 5 THEN 3 WHEN s < 10 THEN 5 ELSE 10 END AS size,
    CAST(SUM(s) AS BIGINT) AS s_rows
FROM groups
GROUP BY CASE WHEN s < 3 THEN s WHEN s < 5 THEN 3 WHEN s < 10 THEN 5 ELSE 10 END
