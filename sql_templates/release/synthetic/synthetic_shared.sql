{# How far the values of each column occur in both tables, NULL apart. `own` and `made`: different values of the original and of the
   synthetic table; `both`: those that both have. `own_rows`, `made_rows`: rows with a value; `once`: rows of the original with a
   value that no other row has; `shared_rows`: synthetic rows whose value the original has. Of numbers, `overlap` says whether
   the ranges overlap, and `own_span`, `made_span` how many whole numbers lie between the smallest and the largest: NULL where
   a number is no whole number. `apart` is how far the shares of both tables are apart, times the rows with a value in each: where values
   are `ordered` the largest difference of shares up to a value (Kolmogorov-Smirnov), else the sum of all differences. #}
{% import "release/synthetic/_stacked.sql" as rows %}
{% macro span(side) %}CASE WHEN MAX(CASE WHEN {{ side }} > 0 AND whole IS NULL THEN 1 ELSE 0 END) = 0 THEN MAX(CASE WHEN {{ side }} > 0 THEN whole END) - MIN(CASE WHEN {{ side }} > 0 THEN whole END) + 1 END{% endmacro %}
{% macro total(side) %}(SELECT CAST(COUNT({{ side.columns[0] }}) AS DOUBLE) FROM {{ side.source }} AS own){% endmacro %}
{% for pair in columns %}
SELECT
    {{ loop.index0 }} AS place,
    COUNT(CASE WHEN d > 0 THEN 1 END) AS own,
    COUNT(CASE WHEN s > 0 THEN 1 END) AS made,
    COUNT(CASE WHEN s > 0 AND d > 0 THEN 1 END) AS both_have,
    CAST(COALESCE(SUM(d), 0) AS BIGINT) AS own_rows,
    CAST(COALESCE(SUM(s), 0) AS BIGINT) AS made_rows,
    COUNT(CASE WHEN d = 1 THEN 1 END) AS once,
    CAST(COALESCE(SUM(CASE WHEN d > 0 THEN s END), 0) AS BIGINT) AS shared_rows,
    {% if pair.number %}
    CASE WHEN MIN(CASE WHEN d > 0 THEN c1 END) <= MAX(CASE WHEN s > 0 THEN c1 END) AND MIN(CASE WHEN s > 0 THEN c1 END) <= MAX(CASE WHEN d > 0 THEN c1 END) THEN 1 ELSE 0 END AS overlap,
    {{ span("d") }} AS own_span,
    {{ span("s") }} AS made_span
    {% else %}
    0 AS overlap,
    CAST(NULL AS DOUBLE) AS own_span,
    CAST(NULL AS DOUBLE) AS made_span
    {% endif %},
    {% if pair.ordered %}
    MAX(ABS(up_d * all_s - up_s * all_d)) AS apart
    {% else %}
    SUM(ABS(d * all_s - s * all_d)) AS apart
    {% endif %}
FROM (
    SELECT c1, d, s, {{ total(pair.sides[0]) }} AS all_d, {{ total(pair.sides[1]) }} AS all_s{% if pair.ordered %}, SUM(d) OVER (ORDER BY c1) AS up_d, SUM(s) OVER (ORDER BY c1) AS up_s{% endif %}{% if pair.number %}, CASE WHEN c1 BETWEEN -1000000000000000 AND 1000000000000000 THEN CASE WHEN c1 = FLOOR(c1) THEN CAST(c1 AS DOUBLE) END END AS whole{% endif %}

    FROM (
        {{ rows.counted(pair.sides) }}
    ) AS {{ "counted_" ~ loop.index }}
    WHERE c1 IS NOT NULL
) AS {{ "values_" ~ loop.index }}
{{ "UNION ALL" if not loop.last }}
{% endfor %}
