{# The blocks of a table with what decides them, as CTEs that end in `judged`: people n, rows r, and of measure i the sum
   s_i and the count c_i, which are published, and the contributors n_i, holdings h_i, absolute sum x_i, largest absolute
   contributions x1_i, x2_i, … and the most contributors same_i with one value, which are not. A contribution is what a
   person has in a block altogether. People have one value if their contributions are equal, or all their rows are; beside
   `known` people, whose values an attacker knows, equal ones are counted, else it matters only whether all are.
   `is_safe` is 1 only where each rule is known to be met. No column has the name of one that it is made of, since some
   warehouses look for that one among the results. `by` are other columns to group by (`everything` = one group of all),
   and with `kept`, judged blocks, only rows count that are in none of the safe ones. Texts and the two conditions that are
   never NULL make the join one that every engine can hash. #}
{% import "models/_cell_rules.sql" as rules %}
{% macro keys(dimensions, prefix="") %}{% for _ in dimensions %}{{ ", " if not loop.first }}{{ prefix }}d{{ loop.index0 }}{% endfor %}{% endmacro %}
{% macro judged(source, dimensions, coarsened, joins, entity, holding, measures, top, known, checks, dialect, by=none, kept=none) %}
{% set by = by or keys(dimensions) %}
{% set rows = "coarsened" if coarsened else "given" %}
{% set contributions = "compared" if known and measures else "contributions" %}
{% set ranked = top and dialect != "duckdb" %}
given AS (
    SELECT
        {% for dimension in dimensions %}{{ ", " if not loop.first }}{{ dimension }} AS d{{ loop.index0 }}{% endfor %}
        {% if entity %}, {{ entity }} AS p{% endif %}
        {% if holding %}, {{ holding }} AS g{% endif %}
        {% for measure in measures %}, {{ measure.value }} AS y{{ loop.index0 }}{% if measure.units %}, {{ measure.units }} AS u{{ loop.index0 }}{% endif %}{% endfor %}

    FROM {{ source }}
),
{% if coarsened %}
coarsened AS (
    SELECT
        {% for label in coarsened %}{{ ", " if not loop.first }}{{ label }} AS d{{ loop.index0 }}{% endfor %}
        {% if entity %}, given.p{% endif %}
        {% if holding %}, given.g{% endif %}
        {% for measure in measures %}, given.y{{ loop.index0 }}{% if measure.units %}, given.u{{ loop.index0 }}{% endif %}{% endfor %}

    FROM {{ joins }}
),
{% endif %}
{% if kept %}
left_out AS (
    SELECT *, 1 AS everything
    FROM {{ rows }} AS x
    WHERE NOT EXISTS (
        SELECT 1 FROM {{ kept }} AS b
        WHERE b.is_safe = 1
        {% for _ in dimensions %}
        AND COALESCE(CAST(x.d{{ loop.index0 }} AS VARCHAR), '') = COALESCE(CAST(b.d{{ loop.index0 }} AS VARCHAR), '') AND (x.d{{ loop.index0 }} IS NULL) = (b.d{{ loop.index0 }} IS NULL)
        {% endfor %}
    )
),
{% elif by != keys(dimensions) %}
everybody AS (
    SELECT *, 1 AS everything
    FROM {{ rows }}
),
{% endif %}
contributions AS (
    SELECT
        {{ by }}
        {% if entity %}
        , p, COUNT(*) AS k
        {% if holding %}, MAX(g) AS e{% endif %}
        {% for measure in measures %}
        , SUM(y{{ loop.index0 }}) AS v{{ loop.index0 }}, COUNT(y{{ loop.index0 }}) AS c{{ loop.index0 }}
        {% if top %}, ABS(SUM({{ "u" if measure.units else "y" }}{{ loop.index0 }})) AS a{{ loop.index0 }}{% endif %}
        , MIN(y{{ loop.index0 }}) AS lo{{ loop.index0 }}, MAX(y{{ loop.index0 }}) AS hi{{ loop.index0 }}
        {% endfor %}
        {% else %}
        {% if holding %}, g AS e{% endif %}
        {% for measure in measures %}
        , y{{ loop.index0 }} AS v{{ loop.index0 }}
        {% if top %}, ABS({{ "u" if measure.units else "y" }}{{ loop.index0 }}) AS a{{ loop.index0 }}{% endif %}
        {% endfor %}
        {% endif %}
    FROM {{ "left_out" if kept else "everybody" if by != keys(dimensions) else rows }}
    {% if entity %}
    GROUP BY {{ by }}, p
    {% endif %}
),
{% if known and measures %}
compared AS (
    SELECT
        contributions.*
        {% for measure in measures %}
        , COUNT(*) OVER (PARTITION BY {{ by }}, v{{ loop.index0 }}) AS equal{{ loop.index0 }}
        {% if entity %}, COUNT(*) OVER (PARTITION BY {{ by }}, lo{{ loop.index0 }}, hi{{ loop.index0 }}) AS alike{{ loop.index0 }}{% endif %}

        {% endfor %}
    FROM contributions
),
{% endif %}
{% if ranked %}
ranked AS (
    SELECT
        {{ contributions }}.*
        {% for measure in measures %}
        , ROW_NUMBER() OVER (PARTITION BY {{ by }} ORDER BY a{{ loop.index0 }} DESC NULLS LAST) AS place{{ loop.index0 }}
        {% endfor %}
    FROM {{ contributions }}
),
{% endif %}
blocks AS (
    SELECT
        {{ by }}, COUNT(*) AS n, {{ "SUM(k)" if entity else "COUNT(*)" }} AS r
        {% if entity %}, COUNT(*) - COUNT(p) AS nobody{% endif %}
        {% if holding %}, COUNT(DISTINCT e) AS h{% endif %}
        {% for measure in measures %}
        {% set i = loop.index0 %}
        , SUM(v{{ i }}) AS s_{{ i }}, {{ "SUM(c" ~ i ~ ")" if entity else "COUNT(v" ~ i ~ ")" }} AS c_{{ i }}, COUNT(v{{ i }}) AS n_{{ i }}
        {% if holding %}, COUNT(DISTINCT CASE WHEN v{{ i }} IS NOT NULL THEN e END) AS h_{{ i }}{% endif %}
        {% if known %}
        , MAX(CASE WHEN v{{ i }} IS NULL THEN 0{% if entity %} WHEN lo{{ i }} = hi{{ i }} AND alike{{ i }} > equal{{ i }} THEN alike{{ i }}{% endif %} ELSE equal{{ i }} END) AS same_{{ i }}
        {% else %}
        , CASE WHEN MIN(v{{ i }}) = MAX(v{{ i }}){% if entity %} OR MIN(lo{{ i }}) = MAX(hi{{ i }}){% endif %} THEN COUNT(v{{ i }}) ELSE 0 END AS same_{{ i }}
        {% endif %}
        {% if top %}
        , COALESCE(SUM(a{{ i }}), 0) AS x_{{ i }}, MIN(v{{ i }}) AS least_{{ i }}
        {% for place in range(1, top + 1) if ranked %}
        , COALESCE(MAX(CASE WHEN place{{ i }} = {{ place }} THEN a{{ i }} END), 0) AS x{{ place }}_{{ i }}
        {% endfor %}
        {% if top == 1 and not ranked %}
        , COALESCE(MAX(a{{ i }}), 0) AS x1_{{ i }}
        {% elif not ranked %}
        , MAX(a{{ i }}, {{ top }}) AS largest_{{ i }}
        {% endif %}
        {% endif %}
        {% endfor %}
    FROM {{ "ranked" if ranked else contributions }}
    GROUP BY {{ by }}
),
{% if top > 1 and not ranked %}
sized AS (
    SELECT
        blocks.*
        {% for measure in measures %}
        {% set i = loop.index0 %}
        {% for place in range(1, top + 1) %}
        , COALESCE(largest_{{ i }}[{{ place }}], 0) AS x{{ place }}_{{ i }}
        {% endfor %}
        {% endfor %}
    FROM blocks
),
{% endif %}
flagged AS (
    SELECT
        {{ "sized" if top > 1 and not ranked else "blocks" }}.*
        {% for check in checks %}
        , CASE WHEN NOT ({% for call in check %}{{ " OR " if not loop.first }}({{ rules[call.macro](of=call.of, **call.arguments) }}){% endfor %}) THEN 0 ELSE 1 END AS f{{ loop.index0 }}
        {% endfor %}
    FROM {{ "sized" if top > 1 and not ranked else "blocks" }}
),
judged AS (
    SELECT flagged.*, CASE WHEN {% for check in checks %}{{ " AND " if not loop.first }}f{{ loop.index0 }} = 0{% endfor %}{{ " AND nobody = 0" if entity }} THEN 1 ELSE 0 END AS is_safe
    FROM flagged
)
{%- endmacro %}
