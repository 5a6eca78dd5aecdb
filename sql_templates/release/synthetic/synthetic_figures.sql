{# What the groups of a synthetic table (s) tell of the rows of the original (d) and of the holdout (h), as sums by the size of the
   group there: who is unique in which table, and, of one target, whose groups have one value, whose own value that is, and the
   sums of the measures of correct attribution. A group is a combination of keys, a cell one of keys and target. A group has one
   value where the sum of its cells' squares is the square of its rows. Counts are floating-point numbers, which add up whole
   numbers exactly and fast.

   Parameters: counts = cells that are kept, none = `sides` are counted, as _stacked.sql has them. keys, target: the names of the
   columns in the cells; target empty = none. totals = the tables with the target alone, in the place of kept cells. apart: as
   there. holdout: whether there is one. shown: whether the original's most common value is told. #}
{% import "release/synthetic/_stacked.sql" as rows %}
{% set by %}{% for key in keys %}{{ key }}, {% endfor %}{{ "own, " if apart }}{% endset %}
{% set people = ["d", "h"] if holdout else ["d"] %}
{% set letters = ["s"] + people %}
WITH cells AS (
    SELECT {{ by }}{{ target ~ " AS t, " if target }}{% for x in letters %}{% if counts %}SUM(CAST({{ x }} AS DOUBLE)){% else %}CAST({{ x }} AS DOUBLE){% endif %} AS {{ x }}{{ ", " if not loop.last }}{% endfor %}

    {% if counts %}
    FROM {{ counts }} AS kept
    GROUP BY {{ by }}{{ target if target else "1 = 1" }}
    {% else %}
    FROM (
        {{ rows.counted(sides, apart, keys | length) }}
    ) AS counted
    {% endif %}
),
{% if target %}
totals AS (
    {% if counts %}
    SELECT {{ target }} AS t{% for x in people %}, SUM({{ x }}) AS {{ x }}{% endfor %}

    FROM {{ counts }} AS kept
    GROUP BY {{ target }}
    {% else %}
    SELECT c1 AS t{% for x in people %}, {{ x }}{% endfor %}

    FROM (
        {{ rows.counted(totals) }}
    ) AS counted
    {% endif %}
),
common AS (
    SELECT t{% for x in people %}, {{ x }}{% endfor %}

    FROM totals
    ORDER BY d DESC, t
    LIMIT 1
),
{% endif %}
groups AS (
    SELECT
        {% if target %}
        SUM(s * s) AS s_squares,
        SUM(CASE WHEN t IS NOT DISTINCT FROM (SELECT t FROM common) THEN s ELSE 0 END) AS s_common,
        {% for x in people %}
        SUM({{ x }} * {{ x }}) AS {{ x }}_squares,
        SUM({{ x }} * s) AS {{ x }}_products,
        {% endfor %}
        {% endif %}
        {% for x in letters %}
        SUM({{ x }}) AS {{ x }}{{ "," if not loop.last }}
        {% endfor %}
    FROM cells
    GROUP BY {{ by.rstrip(", ") }}
)
SELECT
    {% for x in people %}
    CAST(SUM({{ x }}) AS BIGINT) AS {{ x }}_rows,
    COUNT(CASE WHEN {{ x }} = 1 THEN 1 END) AS {{ x }}_unique,
    COUNT(CASE WHEN {{ x }} = 1 AND s > 0 THEN 1 END) AS {{ x }}_unique_there,
    COUNT(CASE WHEN {{ x }} = 1 AND s = 1 THEN 1 END) AS {{ x }}_unique_both,
    CAST(SUM(CASE WHEN s > 0 THEN {{ x }} ELSE 0 END) AS BIGINT) AS {{ x }}_there,
    {% if target %}
    {% set s_pure = "s > 0 AND s_squares = s * s" %}
    {% set own = "ROUND(" ~ x ~ "_products / s)" %}
    CAST(SUM(CASE WHEN {{ x }}_squares = {{ x }} * {{ x }} THEN {{ x }} ELSE 0 END) AS BIGINT) AS {{ x }}_pure,
    CAST(SUM(CASE WHEN {{ s_pure }} THEN {{ x }} ELSE 0 END) AS BIGINT) AS {{ x }}_in_pure,
    CAST(SUM(CASE WHEN {{ s_pure }} THEN {{ own }} ELSE 0 END) AS BIGINT) AS {{ x }}_disclosed,
    CAST(SUM(CASE WHEN {{ s_pure }} AND {{ x }}_squares = {{ x }} * {{ x }} THEN {{ own }} ELSE 0 END) AS BIGINT) AS {{ x }}_disclosed_pure,
    SUM(CASE WHEN {{ x }} > 0 THEN {{ x }}_squares / {{ x }} ELSE 0 END) AS {{ x }}_cap,
    SUM(CASE WHEN s > 0 THEN {{ x }}_products / s ELSE 0 END) AS {{ x }}_dcap,
    (SELECT SUM(CAST({{ x }} AS DOUBLE) * {{ x }}) FROM totals) AS {{ x }}_total_squares,
    {% if x == "d" %}
    (SELECT CAST(d AS BIGINT) FROM common) AS d_common,
    COUNT(CASE WHEN {{ s_pure }} AND d_products > 0 THEN 1 END) AS disclosive,
    CAST(SUM(CASE WHEN {{ s_pure }} AND s_common > 0 THEN {{ own }} ELSE 0 END) AS BIGINT) AS common_disclosed,
    CAST(SUM(CASE WHEN {{ s_pure }} THEN s ELSE 0 END) AS BIGINT) AS s_pure,
    SUM(CASE WHEN s > 0 THEN s_squares / s ELSE 0 END) AS s_cap,
    {% if shown %}
    (SELECT CAST(t AS VARCHAR) FROM common) AS common_value,
    {% endif %}
    {% endif %}
    {% endif %}
    {% endfor %}
    COUNT(CASE WHEN s = 1 THEN 1 END) AS s_unique,
    CAST(SUM(s) AS BIGINT) AS s_rows,
    CASE WHEN s < 3 THEN s WHEN s < 5 THEN 3 WHEN s < 10 THEN 5 ELSE 10 END AS size
FROM groups
GROUP BY CASE WHEN s < 3 THEN s WHEN s < 5 THEN 3 WHEN s < 10 THEN 5 ELSE 10 END
