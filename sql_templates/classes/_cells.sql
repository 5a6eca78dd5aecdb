{# Small pieces that fold cells into facts; see _facts.sql for what a cell is. #}

{# The sum of the largest counts of a count vector. #}
{% macro head_of_list(counts, count, dialect) %}
{% if dialect == "duckdb" -%}
CAST(LIST_SUM(LIST_SORT([{{ counts | join(", ") }}], 'DESC')[1:{{ count }}]) AS BIGINT)
{%- elif dialect == "spark" -%}
AGGREGATE(LIST_SORT([{{ counts | join(", ") }}], 'DESC')[1:{{ count }}], CAST(0 AS BIGINT), (taken, x) -> taken + x)
{%- else -%}
(SELECT SUM(h.x) FROM (SELECT u.x FROM UNNEST([{{ counts | join(", ") }}]) AS u(x) ORDER BY u.x DESC LIMIT {{ count }}) AS h)
{%- endif %}
{% endmacro %}

{# See largest_l in _facts.sql. An empty list of counts has no positive top. #}
{% macro largest_l_of_list(counts, top, numerator, denominator, wide, dialect) %}
{% if dialect == "duckdb" -%}
{% set sorted = "LIST_SORT([" ~ counts | join(", ") ~ "], 'DESC')" %}
CASE WHEN {{ top }} > 0 THEN 1{% for _ in counts %} + CASE WHEN CAST(n - {{ "LIST_SUM(" ~ sorted ~ "[1:" ~ loop.index0 ~ "])" if loop.index0 else "0" }} - LEAST({{ sorted }}[{{ loop.index }}], {{ top }}) AS {{ wide }}) * {{ numerator }} > CAST({{ top }} AS {{ wide }}) * {{ denominator }} THEN 1 ELSE 0 END{% endfor %} END
{%- elif dialect == "spark" -%}
{% set next = "CASE WHEN CAST(walk.rest - LEAST(x, " ~ top ~ ") AS " ~ wide ~ ") * " ~ numerator ~ " > CAST(" ~ top ~ " AS " ~ wide ~ ") * " ~ denominator ~ " THEN 1 ELSE 0 END" %}
CASE WHEN {{ top }} > 0 THEN AGGREGATE(LIST_SORT([{{ counts | join(", ") }}], 'DESC'), {'rest': CAST(n AS BIGINT), 'l': CAST(1 AS BIGINT)}, (walk, x) -> {'rest': walk.rest - x, 'l': walk.l + {{ next }}}, walk -> walk.l) END
{%- else -%}
CASE WHEN {{ top }} > 0 THEN 1 + (SELECT COUNT(*) FROM (SELECT u.x, SUM(u.x) OVER (ORDER BY u.x DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running FROM UNNEST([{{ counts | join(", ") }}]) AS u(x)) AS h WHERE CAST(n - h.running + h.x - LEAST(h.x, {{ top }}) AS {{ wide }}) * {{ numerator }} > CAST({{ top }} AS {{ wide }}) * {{ denominator }}) END
{%- endif %}
{% endmacro %}
{% macro largest_l_of_rows(top, numerator, denominator, wide) %}CASE WHEN MAX({{ top }}) > 0 THEN 1 + SUM(CASE WHEN CAST(long.n - running + c - LEAST(c, {{ top }}) AS {{ wide }}) * {{ numerator }} > CAST({{ top }} AS {{ wide }}) * {{ denominator }} THEN 1 ELSE 0 END) END{% endmacro %}

{# The place of a lane in an order of all lanes. #}
{% macro place_of(places, lane) %}
{% if places == range(places | length) | list -%}
{{ lane }}
{%- else -%}
CASE {{ lane }}{% for place in places %} WHEN {{ loop.index0 }} THEN {{ place }}{% endfor %} END
{%- endif %}
{% endmacro %}

{# The same over rows of cells. #}
{% macro head_of_rows(count, dialect) %}
{% if dialect == "duckdb" -%}
{{ "MAX(c)" if count == 1 else "CAST(LIST_SUM(MAX(c, " ~ count ~ ")) AS BIGINT)" }}
{%- else -%}
SUM(CASE WHEN position <= {{ count }} THEN c ELSE 0 END)
{%- endif %}
{% endmacro %}

{# The largest counts as an array, of a count vector and of rows of cells. #}
{% macro top_of_list(counts, count, dialect) %}
{% if dialect in ("duckdb", "spark") -%}
LIST_SORT([{{ counts | join(", ") }}], 'DESC')[1:{{ count }}]
{%- else -%}
ARRAY(SELECT u.x FROM UNNEST([{{ counts | join(", ") }}]) AS u(x) ORDER BY u.x DESC LIMIT {{ count }})
{%- endif %}
{% endmacro %}
{% macro top_of_rows(count, dialect) %}
{% if dialect == "duckdb" -%}
MAX(c, {{ count }})
{%- elif dialect == "spark" -%}
LIST_SORT(ARRAY_AGG(c), 'DESC')[1:{{ count }}]
{%- else -%}
(ARRAY_AGG(c ORDER BY c DESC))[1:{{ count }}]
{%- endif %}
{% endmacro %}

{% macro deviation(count, part, wide, total) %}ABS(CAST({{ count }} AS {{ wide }}) * {{ total }} - CAST(n AS {{ wide }}) * {{ part }}){% endmacro %}

{% macro only_lanes(lanes, cell) %}CASE WHEN long.lane IN ({{ lanes | join(", ") }}) THEN {{ cell }} END{% endmacro %}

{% macro only_lanes_of(lanes, cell) %}CASE WHEN lane IN ({{ lanes | join(", ") or "NULL" }}) THEN {{ cell }} END{% endmacro %}

{% macro aggregate(function, cell) %}{{ function }}({{ cell }}){% endmacro %}

{% macro or_zero(expression) %}COALESCE({{ expression }}, 0){% endmacro %}

{% macro smallest_of_rows(lanes) %}CASE WHEN COALESCE(SUM(CASE WHEN long.lane IN ({{ lanes | join(", ") }}) THEN 1 END), 0) < {{ lanes | length }} THEN 0 ELSE MIN(CASE WHEN long.lane IN ({{ lanes | join(", ") }}) THEN c END) END{% endmacro %}

{% macro level_value(level) %}MAX({{ level }}.deviation){% endmacro %}

{# Every cell with its value's total. #}
{% macro with_totals(totals) %}
all_lanes AS MATERIALIZED (
    SELECT lane, total FROM {{ totals }} AS seen
),
cells AS NOT MATERIALIZED (
    SELECT long.*, all_lanes.total AS t
    FROM long
    JOIN all_lanes ON long.lane = all_lanes.lane
),
{% endmacro %}

{# Every cell with the place of its count among the counts of its class, largest first; and with the sum of the counts
   down to this one and the largest count of some lanes, when largest_l asks for them. #}
{% macro with_positions(before, tops) %}
positioned AS NOT MATERIALIZED (
    SELECT
        {{ before }}.*,
    {% for name, lanes in tops.items() %}
        MAX({{ "c" if lanes is none else only_lanes_of(lanes, "c") }}) OVER (PARTITION BY id) AS {{ name }},
    {% endfor %}
    {% if tops %}
        SUM(c) OVER (PARTITION BY id ORDER BY c DESC, lane ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running,
    {% endif %}
        ROW_NUMBER() OVER (PARTITION BY id ORDER BY c DESC, lane) AS position
    FROM {{ before }}
),
{% endmacro %}

{# Every cell with its gap: the sum of |a total - b n| over the ranks from its own to the next one present, where a is
   the class's and b the table's cumulative count. The ranks where a total >= b n come first, so one look-up of the
   crossing splits a gap into two sums that prefix sums give. #}
{% macro with_gaps(order, wide, total) %}
ranks AS MATERIALIZED (
    SELECT
        lane, rank, cumulated,
        SUM(cumulated) OVER (ORDER BY rank) AS prefix,
        SUM(cumulated) OVER (ORDER BY rank) - cumulated AS prefix_before
    FROM (
        SELECT lane, rank, CAST(SUM(total) OVER (ORDER BY rank) AS {{ wide }}) AS cumulated
        FROM (
            SELECT lane, total, {{ rank_of(order) }} AS rank
            FROM all_lanes
            {% for lane in order %}
            {% if lane < 0 %}
            UNION ALL
            SELECT CAST(NULL AS BIGINT), 0, {{ loop.index0 }}
            {% endif %}
            {% endfor %}
        ) AS ranked
    ) AS summed
),
stepped AS NOT MATERIALIZED (
    SELECT
        cells.*, ranks.rank, ranks.prefix_before,
        CAST(SUM(cells.c) OVER steps AS {{ wide }}) AS reached,
        LEAD(ranks.rank) OVER steps AS next_rank,
        LEAD(ranks.prefix_before) OVER steps AS next_prefix,
        ROW_NUMBER() OVER steps AS step
    FROM cells
    JOIN ranks ON cells.lane = ranks.lane
    WINDOW steps AS (PARTITION BY cells.id ORDER BY ranks.rank)
),
crossings AS NOT MATERIALIZED (
    SELECT
        points.*,
        COALESCE(MAX(found_rank) OVER walk + 1, 0) AS crossing,
        COALESCE(MAX(found_prefix) OVER walk, 0) AS crossing_prefix
    FROM (
        SELECT
            id, n, size, classes, table_rows, lane, c, t, rank, prefix_before, reached, step,
            COALESCE(next_rank, {{ order | length }}) AS next_rank,
            COALESCE(next_prefix, (SELECT MAX(prefix) FROM ranks)) AS next_prefix,
            reached * {{ total }} // n AS point,
            1 AS kind, CAST(NULL AS BIGINT) AS found_rank, CAST(NULL AS {{ wide }}) AS found_prefix
        FROM stepped
        UNION ALL
        SELECT
            NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
            cumulated, 0, rank, prefix
        FROM ranks
    ) AS points
    WINDOW walk AS (ORDER BY point, kind ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
),
split AS NOT MATERIALIZED (
    SELECT
        *,
        CASE WHEN crossing <= rank THEN rank WHEN crossing >= next_rank THEN next_rank ELSE crossing END AS turn,
        CASE WHEN crossing <= rank THEN prefix_before WHEN crossing >= next_rank THEN next_prefix ELSE crossing_prefix END AS turn_prefix
    FROM crossings
    WHERE kind = 1
),
gapped AS NOT MATERIALIZED (
    SELECT
        id, n, size, classes, table_rows, lane, c, t,
        (turn - rank) * reached * {{ total }} - n * (turn_prefix - prefix_before)
        + n * (next_prefix - turn_prefix) - (next_rank - turn) * reached * {{ total }}
        + CASE WHEN step = 1 THEN n * prefix_before ELSE 0 END AS gap
    FROM split
),
{% endmacro %}

{# The rank of a lane: the lane itself in natural order, else its place in the order that was declared. #}
{% macro rank_of(order) %}
{% if order == range(order | length) | list -%}
lane
{%- else -%}
CASE lane{% for lane in order %}{% if lane >= 0 %} WHEN {{ lane }} THEN {{ loop.index0 }}{% endif %}{% endfor %} END
{%- endif %}
{% endmacro %}

{# For each class, how far the counts of the groups of a tree's level are from the table's. #}
{% macro with_level(level, groups, wide, total) %}
{{ level }} AS (
    SELECT
        id,
        CAST(n AS {{ wide }}) * {{ total }}
        + SUM(ABS(CAST(c AS {{ wide }}) * {{ total }} - CAST(n AS {{ wide }}) * t) - CAST(n AS {{ wide }}) * t) AS deviation
    FROM (
        SELECT id, n, branch, SUM(c) AS c, MAX(part) AS t
        FROM (
            SELECT cells.id, cells.n, cells.c, branches.branch, branches.part
            FROM cells
            JOIN (
                SELECT lane, branch, SUM(total) OVER (PARTITION BY branch) AS part
                FROM (
                    SELECT
                        lane, total,
                        CASE lane{% for lanes in groups %}{% set branch = loop.index0 %}{% for lane in lanes %} WHEN {{ lane }} THEN {{ branch }}{% endfor %}{% endfor %} END AS branch
                    FROM all_lanes
                ) AS branched
            ) AS branches ON cells.lane = branches.lane
        ) AS merged
        GROUP BY id, n, branch
    ) AS level_counts
    GROUP BY id, n
),
{% endmacro %}

{% macro long_source(relation, levels) %}
{{ relation }} AS long{% for level in levels %}

    JOIN {{ level }} ON long.id = {{ level }}.id{% endfor %}

{% endmacro %}
