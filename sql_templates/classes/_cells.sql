{# The long form: cells are rows (id, n, lane, c, t) of the relation `long`, grouped by class. A fact is an aggregate over
   the rows of a class. The packed form, _packed.sql, has the same macros; besides, here are the relations that some
   facts need before the fold. `form` is "windows" where windows have added places and running sums already. #}
{% import "classes/_counts.sql" as listed with context %}

{# One aggregate over the rows of a class (of all lanes, or of the given ones) from what each contributes. #}
{% macro fold(operation, lanes=none) -%}
{% set cell = occurring(caller("c", "t", "long.lane")) %}
{% if lanes is not none and not lanes -%}
0
{%- elif operation == "sum" and lanes is none and cell == "1" -%}
COUNT(*)
{%- elif operation == "min" -%}
MIN({{ only(lanes, cell) }})
{%- else -%}
COALESCE({{ "MAX" if operation == "max" else "SUM" }}({{ only(lanes, cell) }}), 0)
{%- endif %}
{%- endmacro %}
{# What a cell contributes, without asking whether its value occurs where only those that do have cells (`all_occur`). #}
{% macro occurring(cell) -%}
{% set asked = "CASE WHEN c > 0 THEN " %}
{% set rest = cell[asked | length:] %}
{% if all_occur is not defined or not all_occur or cell[:asked | length] != asked -%}
{{ cell }}
{%- elif rest[-13:] == " ELSE 0.0 END" -%}
{{ rest[:-13] }}
{%- elif rest[-11:] == " ELSE 0 END" -%}
{{ rest[:-11] }}
{%- else -%}
{{ rest[:-4] }}
{%- endif %}
{%- endmacro %}
{% macro only(lanes, cell) %}{{ cell if lanes is none else "CASE WHEN long.lane IN (" ~ lanes | join(", ") ~ ") THEN " ~ cell ~ " END" }}{% endmacro %}

{# The rows with one of some values, and the largest and the smallest count of these. #}
{% macro members(lanes) %}{% call(c, t, lane) fold("sum", lanes) %}{{ c }}{% endcall %}{% endmacro %}
{% macro largest_of(lanes) %}{% call(c, t, lane) fold("max", lanes) %}{{ c }}{% endcall %}{% endmacro %}
{% macro smallest_of(lanes) -%}
{% if lanes -%}
CASE WHEN COALESCE(SUM({{ only(lanes, "1") }}), 0) < {{ lanes | length }} THEN 0 ELSE MIN({{ only(lanes, "c") }}) END
{%- else -%}
0
{%- endif %}
{%- endmacro %}

{% macro wide_n() %}MAX(CAST(long.n AS {{ wide }})){% endmacro %}

{% macro head(count) -%}
{% if dialect == "duckdb" and form != "windows" -%}
{{ "MAX(c)" if count == 1 else "CAST(LIST_SUM(MAX(c, " ~ count ~ ")) AS BIGINT)" }}
{%- else -%}
SUM(CASE WHEN position <= {{ count }} THEN c ELSE 0 END)
{%- endif %}
{%- endmacro %}

{% macro top(count) -%}
{% if dialect == "duckdb" -%}
MAX(c, {{ count }})
{%- elif dialect == "spark" -%}
LIST_SORT(ARRAY_AGG(c), 'DESC')[1:{{ count }}]
{%- else -%}
(ARRAY_AGG(c ORDER BY c DESC))[1:{{ count }}]
{%- endif %}
{%- endmacro %}

{% macro largest_l(numerator, denominator, lanes) -%}
{% set top = top_name(lanes) %}
CASE WHEN MAX({{ top }}) > 0 THEN 1 + SUM(CASE WHEN CAST(long.n - running + c - LEAST(c, {{ top }}) AS {{ wide }}) * {{ numerator }} > CAST({{ top }} AS {{ wide }}) * {{ denominator }} THEN 1 ELSE 0 END) END
{%- endmacro %}

{% macro place(places, lane) -%}
{% if places == range(places | length) | list -%}
{{ lane }}
{%- else -%}
CASE {{ lane }}{% for place in places %} WHEN {{ loop.index0 }} THEN {{ place }}{% endfor %} END
{%- endif %}
{%- endmacro %}

{% macro grouped_distance(groups) %}MAX({{ level_name(groups) }}.deviation){% endmacro %}

{% macro ordered_distance(order) %}SUM(gap){% endmacro %}

{# What the facts of this statement need beforehand: the order of a distance, for each `largest_l` the lanes whose largest
   count it takes, the levels of a tree, the place of every count within its class. Names count within the statement. #}
{% set asked = namespace(order=none, tops=[], sets=[], levels=[], places=false) %}
{% for fact in facts %}
{% set given = fact.arguments %}
{% if fact.macro == "ordered_distance" and asked.order is none %}
{% set asked.order = given["order"] %}
{% elif fact.macro == "largest_l" and given.get("lanes") not in asked.tops %}
{% set asked.tops = asked.tops + [given.get("lanes")] %}
{% set asked.sets = asked.tops | reject("none") | list %}
{% elif fact.macro == "grouped_distance" and given["groups"] not in asked.levels %}
{% set asked.levels = asked.levels + [given["groups"]] %}
{% elif fact.macro == "head" and dialect != "duckdb" %}
{% set asked.places = true %}
{% endif %}
{% endfor %}
{% macro top_name(lanes) %}{{ "greatest_count" if lanes is none else "greatest_of_set_" ~ (asked.sets.index(lanes) + 1) }}{% endmacro %}
{% macro level_name(groups) %}level_{{ asked.levels.index(groups) + 1 }}{% endmacro %}

{# The relations before the fold, and the FROM item that it reads. #}
{% macro preparations(totals) -%}
{{ with_totals(totals) }}
{%- if asked.order is not none %}{{ with_gaps(asked.order) }}{% endif %}
{%- if asked.tops or asked.places %}{{ with_positions("gapped" if asked.order is not none else "cells", asked.tops) }}{% endif %}
{%- for groups in asked.levels %}{{ with_level(groups) }}{% endfor %}
{%- endmacro %}
{% macro source() -%}
{{ "positioned" if asked.tops or asked.places else "gapped" if asked.order is not none else "cells" }} AS long
{%- for groups in asked.levels %}

    JOIN {{ level_name(groups) }} ON long.id = {{ level_name(groups) }}.id
{%- endfor %}
{%- endmacro %}

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
    {% for lanes in tops %}
        MAX({{ "c" if lanes is none else "CASE WHEN lane IN (" ~ (lanes | join(", ") or "NULL") ~ ") THEN c END" }}) OVER (PARTITION BY id) AS {{ top_name(lanes) }},
    {% endfor %}
    {% if tops %}
        SUM(c) OVER (PARTITION BY id ORDER BY c DESC, lane ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running,
    {% endif %}
        ROW_NUMBER() OVER (PARTITION BY id ORDER BY c DESC, lane) AS position
    FROM {{ before }}
),
{% endmacro %}

{# Every cell with its gap: how far its rows have to be moved, in ranks, to become the table's. Sorted by rank, the rows of
   a class and, as often as it takes to be as many, those of the table are paired in their order; a cell holds the places
   from `reached - c` to `reached`. The area at a place is the sum of the ranks of the table's rows before it; each
   (n, reached) is found once among the ranks, however many classes have it. Of a cell, ranks up to its own come first, so
   its gap is two differences of areas. The sum of the table's ranks that all cells share is taken off by rows. #}
{% macro with_gaps(order) %}
ranks AS MATERIALIZED (
    SELECT
        lane, rank,
        CAST(SUM(total) OVER (ORDER BY rank) AS {{ wide }}) AS cumulated,
        CAST(SUM(total * CAST(rank AS {{ wide }})) OVER (ORDER BY rank) AS {{ wide }}) AS moment
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
),
stepped AS MATERIALIZED (
    SELECT cells.*, CAST(SUM(c) OVER (PARTITION BY id ORDER BY {{ rank_of(order) }}) AS {{ wide }}) AS reached
    FROM cells
),
areas AS MATERIALIZED (
    SELECT
        n, reached,
        n * COALESCE(before_moment, 0) + (reached * {{ total }} - n * COALESCE(before_cumulated, 0)) * COALESCE(before_rank + 1, 0) AS area
    FROM (
        SELECT
            n, reached, kind,
            MAX(rank) OVER walk AS before_rank,
            MAX(cumulated) OVER walk AS before_cumulated,
            MAX(moment) OVER walk AS before_moment
        FROM (
            SELECT
                n, reached, reached * {{ total }} // n AS point, 1 AS kind,
                CAST(NULL AS BIGINT) AS rank, CAST(NULL AS {{ wide }}) AS cumulated, CAST(NULL AS {{ wide }}) AS moment
            FROM (SELECT DISTINCT n, reached FROM stepped) AS places
            UNION ALL
            SELECT NULL, NULL, cumulated, 0, rank, cumulated, moment
            FROM ranks
        ) AS points
        WINDOW walk AS (ORDER BY point, kind ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    ) AS walked
    WHERE kind = 1
),
gapped AS NOT MATERIALIZED (
    SELECT
        stepped.id, stepped.n, stepped.size, stepped.classes, stepped.table_rows, stepped.lane, stepped.c, stepped.t,
        ranks.rank * (
            2 * LEAST(GREATEST(stepped.n * ranks.cumulated, (stepped.reached - stepped.c) * {{ total }}), stepped.reached * {{ total }})
            - (2 * stepped.reached - stepped.c) * {{ total }}
        ) + 2 * (
            areas.area
            - CASE
                WHEN stepped.n * ranks.cumulated <= (stepped.reached - stepped.c) * {{ total }} THEN COALESCE(before.area, 0)
                WHEN stepped.n * ranks.cumulated >= stepped.reached * {{ total }} THEN areas.area
                ELSE stepped.n * ranks.moment
            END
        ) - stepped.c * (SELECT MAX(moment) FROM ranks) AS gap
    FROM stepped
    JOIN ranks ON stepped.lane = ranks.lane
    JOIN areas ON stepped.n = areas.n AND stepped.reached = areas.reached
    LEFT JOIN areas AS before ON stepped.n = before.n AND stepped.reached - stepped.c = before.reached
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
{% macro with_level(groups) %}
{{ level_name(groups) }} AS (
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
