{# How the rows of original (d) and synthetic table (s) spread over bins of each column, and over the bins of two columns together.
   Numbers have `bins` bins of one width between the values that 1% of the original's rows do not exceed or are not below, so that
   no single row sets the scale; the first and the last bin have what lies outside. Dates have bins of about as many rows of the
   original; other columns one bin for each of their `values` most frequent values there, and one for all others. Missing is bin -1.

   A line with a bin: the rows of a column in it. A line without one, of two columns: `own` and `made`, Pearson's φ² + 1 in each
   table, `own_degrees` and `made_degrees`, the smaller number of bins that occur; and `apart`, the sum over pairs of bins of
   |d·S − s·D|, D and S being all rows. Counts are floating-point numbers, which multiply without overflow.

   Parameters: sides, as _stacked.sql has them. kinds: of each column number, ordered or value. pairs: places of two columns. #}
{% import "release/synthetic/_stacked.sql" as rows %}
{% set places = range(1, kinds | length + 1) %}
WITH {% for kind in kinds %}
{% set column = sides[0].columns[loop.index0] %}
{% if kind == "value" %}
ranked_{{ loop.index }} AS (
    SELECT v, ROW_NUMBER() OVER (ORDER BY n DESC, v) AS place
    FROM (
        SELECT v, n
        FROM (SELECT {{ column }} AS v, COUNT(*) AS n FROM {{ sides[0].source }} AS own WHERE {{ column }} IS NOT NULL GROUP BY {{ column }}) AS counted
        ORDER BY n DESC, v
        LIMIT {{ values }}
    ) AS frequent
),
{% else %}
cuts_{{ loop.index }} AS (
    SELECT
        {% for cut in range(1, bins) %}
        {% if kind == "number" %}
        MIN(CASE WHEN up_to * 100 >= total THEN v END) * {{ (bins - cut) / bins }} + MAX(CASE WHEN (up_to - n) * 100 <= total * 99 THEN v END) * {{ cut / bins }} AS q{{ cut }}{{ "," if not loop.last }}
        {% else %}
        MIN(CASE WHEN up_to * {{ bins }} > total * {{ cut }} THEN v END) AS q{{ cut }}{{ "," if not loop.last }}
        {% endif %}
        {% endfor %}
    FROM (
        SELECT v, n, SUM(n) OVER (ORDER BY v) AS up_to, (SELECT COUNT({{ column }}) FROM {{ sides[0].source }} AS own) AS total
        FROM (SELECT {{ "CAST(" ~ column ~ " AS DOUBLE)" if kind == "number" else column }} AS v, COUNT(*) AS n FROM {{ sides[0].source }} AS own WHERE {{ column }} IS NOT NULL GROUP BY {{ "CAST(" ~ column ~ " AS DOUBLE)" if kind == "number" else column }}) AS counted
    ) AS added_up
),
{% endif %}
{% endfor %}
binned AS (
    SELECT
        {% for kind in kinds %}
        {% set c = "c" ~ loop.index %}
        {% set place = loop.index %}
        CASE WHEN {{ c }} IS NULL THEN -1 ELSE {% if kind == "value" %}COALESCE(ranked_{{ place }}.place, {{ values + 1 }}) - 1{% else %}{% for cut in range(1, bins) %}CASE WHEN {{ c }} >= cuts_{{ place }}.q{{ cut }} THEN 1 ELSE 0 END{{ " + " if not loop.last }}{% endfor %}{% endif %} END AS b{{ place }},
        {% endfor %}
        side
    FROM (
        {{ rows.stacked(sides) }}
    ) AS stacked
    {% for kind in kinds %}
    {% if kind == "value" %}
    LEFT JOIN ranked_{{ loop.index }} ON c{{ loop.index }} = ranked_{{ loop.index }}.v
    {% else %}
    CROSS JOIN cuts_{{ loop.index }}
    {% endif %}
    {% endfor %}
),
grouped AS (
    SELECT
        {% for place in places %}b{{ place }}, {% endfor %}

        CAST(COUNT(CASE WHEN side = 0 THEN 1 END) AS DOUBLE) AS d,
        CAST(COUNT(CASE WHEN side = 1 THEN 1 END) AS DOUBLE) AS s
    FROM binned
    GROUP BY GROUPING SETS ({% for place in places %}(b{{ place }}){{ ", " if not loop.last }}{% endfor %}{% for one, other in pairs %}, (b{{ one }}, b{{ other }}){% endfor %})
),
cells AS (
    SELECT
        CASE {% for place in places %}WHEN b{{ place }} IS NOT NULL THEN {{ place }} {% endfor %}END AS one,
        CASE {% for place in places | reverse %}WHEN b{{ place }} IS NOT NULL THEN {{ place }} {% endfor %}END AS other,
        COALESCE({% for place in places %}b{{ place }}, {% endfor %}0) AS a,
        COALESCE({% for place in places | reverse %}b{{ place }}, {% endfor %}0) AS b,
        d,
        s
    FROM grouped
)
SELECT
    one,
    other,
    CASE WHEN one = other THEN a END AS bin,
    SUM(d) AS d,
    SUM(s) AS s,
    SUM(CASE WHEN d > 0 THEN d * d / (d_a * d_b) END) AS own,
    SUM(CASE WHEN s > 0 THEN s * s / (s_a * s_b) END) AS made,
    LEAST(COUNT(DISTINCT CASE WHEN d > 0 THEN a END), COUNT(DISTINCT CASE WHEN d > 0 THEN b END)) AS own_degrees,
    LEAST(COUNT(DISTINCT CASE WHEN s > 0 THEN a END), COUNT(DISTINCT CASE WHEN s > 0 THEN b END)) AS made_degrees,
    SUM(ABS(d * all_s - s * all_d)) AS apart
FROM (
    SELECT
        cells.*,
        SUM(d) OVER (PARTITION BY one, other, a) AS d_a,
        SUM(d) OVER (PARTITION BY one, other, b) AS d_b,
        SUM(s) OVER (PARTITION BY one, other, a) AS s_a,
        SUM(s) OVER (PARTITION BY one, other, b) AS s_b,
        SUM(d) OVER (PARTITION BY one, other) AS all_d,
        SUM(s) OVER (PARTITION BY one, other) AS all_s
    FROM cells
) AS measured
GROUP BY one, other, CASE WHEN one = other THEN a END
