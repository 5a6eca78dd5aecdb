{# Equivalence classes and their facts in one statement that needs nothing known beforehand: no number of values, no
   totals, no relation of a session. Windows add up what belongs together, so that NULLs are equal and nothing is joined
   on keys. A cell is (class, sensitive value): c = its count, n = its class's, t = its value's, total = the table's. #}

{# From the target's cells to one row a class, with `size` (rows or persons), `row_count`, and the facts that models ask
   for. `uses` holds what of a cell these facts need: "values" (how many there are, and each one's place in their order),
   "positions" (of counts within a class), "gaps" (between places, for ordered distances). #}
{% macro facts_relation(source, columns, key, entity, facts, more_facts, by_value, uses) %}
{% import "classes/_facts.sql" as macros with context %}
target AS (
    SELECT {{ columns }}
    FROM {{ source }}
),
{% if not by_value %}
facts AS (
    SELECT
        {{ key }},
        CAST(COUNT(*) AS BIGINT) AS n,
        CAST({{ "COUNT(DISTINCT e)" if entity else "COUNT(*)" }} AS BIGINT) AS size,
        CAST(COUNT(*) AS BIGINT) AS row_count
    FROM target
    GROUP BY {{ key }}
)
{%- else %}
{% if entity %}
members AS (
    SELECT {{ key }}, e, s, COUNT(*) AS row_count
    FROM target
    GROUP BY {{ key }}, e, s
),
persons AS (
    SELECT
        {{ key }}, e, s, row_count,
        CASE WHEN ROW_NUMBER() OVER (PARTITION BY {{ key }}, e ORDER BY s) = 1 THEN 1 ELSE 0 END AS is_first_in_class,
        CASE WHEN ROW_NUMBER() OVER (PARTITION BY e, s ORDER BY {{ key }}) = 1 THEN 1 ELSE 0 END AS is_first_with_value
    FROM members
),
{% endif %}
cells AS (
    SELECT
        {{ key }}, s,
        CAST(COUNT(*) AS BIGINT) AS c,
        CAST({{ "SUM(is_first_in_class)" if entity else "COUNT(*)" }} AS BIGINT) AS cell_size,
        CAST({{ "SUM(is_first_with_value)" if entity else "COUNT(*)" }} AS BIGINT) AS of_table,
        CAST({{ "SUM(row_count)" if entity else "COUNT(*)" }} AS BIGINT) AS cell_rows
    FROM {{ "persons" if entity else "target" }}
    GROUP BY {{ key }}, s
),
added AS (
    SELECT
        {{ key }}, s, c, cell_size, cell_rows,
    {% if "values" in uses %}
        CAST(DENSE_RANK() OVER (ORDER BY s) AS BIGINT) AS place,
    {% endif %}
    {% if "positions" in uses %}
        ROW_NUMBER() OVER (PARTITION BY {{ key }} ORDER BY c DESC) AS position,
        CAST(SUM(c) OVER (PARTITION BY {{ key }} ORDER BY c DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS running,
        MAX(c) OVER (PARTITION BY {{ key }}) AS greatest_count,
    {% endif %}
        CAST(SUM(c) OVER (PARTITION BY {{ key }}) AS BIGINT) AS n,
        CAST(SUM(of_table) OVER (PARTITION BY s) AS BIGINT) AS t,
        CAST(SUM(of_table) OVER () AS BIGINT) AS total
    FROM cells
),
{% if "values" in uses %}
placed AS (
    SELECT added.*, MAX(place) OVER () AS value_count
    FROM added
),
{% endif %}
{% if "gaps" in uses %}
{{ gaps(key) }}
{% endif %}
facts AS (
    SELECT
        {{ key }}, n, total,
    {% if "values" in uses %}
        value_count,
    {% endif %}
        CAST(SUM(cell_size) AS BIGINT) AS size,
        CAST(SUM(cell_rows) AS BIGINT) AS row_count
    {% for fact in facts %}
        , {{ macros[fact.macro](**fact.arguments) }} AS {{ fact.name }}
    {% endfor %}
    {% for name, aggregate in more_facts %}
        , {{ aggregate }} AS {{ name }}
    {% endfor %}
    FROM {{ "gapped" if "gaps" in uses else "placed" if "values" in uses else "added" }} AS long
    GROUP BY {{ key }}, n, total{{ ", value_count" if "values" in uses }}
)
{%- endif %}
{% endmacro %}

{# The classes of the table and of a population (or reference) side by side: `size` and `row_count` of the table,
   `population_size` people. Both are added up in one GROUP BY, in which NULLs are equal. #}
{% macro population_relation(source, columns, population, population_columns, key, entity, population_entity) %}
target AS (
    SELECT {{ columns }}
    FROM {{ source }}
),
population AS (
    SELECT {{ population_columns }}
    FROM {{ population }}
),
both_sides AS (
    SELECT {{ key }}, {{ "COUNT(DISTINCT e)" if entity else "COUNT(*)" }} AS members, COUNT(*) AS member_rows, 0 AS people
    FROM target
    GROUP BY {{ key }}
    UNION ALL
    SELECT {{ key }}, 0, 0, {{ "COUNT(DISTINCT e)" if population_entity else "COUNT(*)" }}
    FROM population
    GROUP BY {{ key }}
),
facts AS (
    SELECT
        {{ key }},
        CAST(SUM(members) AS BIGINT) AS size,
        CAST(SUM(member_rows) AS BIGINT) AS row_count,
        CAST(SUM(people) AS BIGINT) AS population_size
    FROM both_sides
    GROUP BY {{ key }}
){% endmacro %}
{% macro met() %}size > 0{% endmacro %}
{% macro more_than_population() %}size > population_size{% endmacro %}
{% macro journalist_risk() %}CAST(1 AS DOUBLE) / NULLIF(MIN(population_size), 0){% endmacro %}
{% macro marketer_risk() %}SUM(CAST(size AS DOUBLE) / NULLIF(population_size, 0)) / SUM(size){% endmacro %}
{% macro people() %}population_size{% endmacro %}
{% macro riskier_in_population(limit) %}population_size * {{ limit.numerator }} < {{ limit.denominator }}{% endmacro %}
{% macro presence() %}CAST(size AS DOUBLE) / NULLIF(population_size, 0){% endmacro %}
{% macro presence_outside(low, high) %}CAST(size AS {{ wide }}) * {{ low.denominator }} < CAST(population_size AS {{ wide }}) * {{ low.numerator }} OR CAST(size AS {{ wide }}) * {{ high.denominator }} > CAST(population_size AS {{ wide }}) * {{ high.numerator }}{% endmacro %}
{% macro fewer_people(k) %}population_size < {{ k }}{% endmacro %}
{% macro matched_by_few(k) %}size > 0 AND population_size > 0 AND population_size < {{ k }}{% endmacro %}

{# Every cell with its gap: the sum of |a total - b n| over the places from its own to the next one present (before its
   own, too, for the first cell of a class), where a is the class's and b the table's cumulative count. Places have a type
   that holds NULL in every dialect: after the last row, ClickHouse's LEAD gives 0 of types that do not. #}
{% macro gaps(key) %}
places AS (
    SELECT
        place,
        CAST(SUM(value_total) OVER (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS cumulated
    FROM (
        SELECT place, MAX(t) AS value_total
        FROM placed
        GROUP BY place
    ) AS seen
),
stepped AS (
    SELECT
        placed.*,
        CAST(SUM(c) OVER (PARTITION BY {{ key }} ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS reached,
        LEAD(place) OVER (PARTITION BY {{ key }} ORDER BY place) AS next_place,
        ROW_NUMBER() OVER (PARTITION BY {{ key }} ORDER BY place) AS step
    FROM placed
),
gapped AS (
    SELECT
        {{ key }}, c, cell_size, cell_rows, n, total, value_count,
        SUM(ABS(CAST(CASE WHEN places.place >= stepped.place THEN reached ELSE 0 END AS {{ wide }}) * total - CAST(n AS {{ wide }}) * cumulated)) AS gap
    FROM stepped
    CROSS JOIN places
    WHERE (places.place >= stepped.place OR step = 1) AND (next_place IS NULL OR places.place < next_place)
    GROUP BY {{ key }}, c, cell_size, cell_rows, n, total, value_count, stepped.place
),
{% endmacro %}

{# Numbers of a distance whose scale holds M - 1, the number of values less one; 1 where there is one value. #}
{% macro values_less_one() %}GREATEST(1, value_count - 1){% endmacro %}

{# The range of the values of a class, for a class function that is the value itself. #}
{% macro highest_value() %}MAX(s){% endmacro %}
{% macro lowest_value() %}MIN(s){% endmacro %}
{% macro range_of_values() %}highest_value - lowest_value{% endmacro %}
{% macro range_below(limit) %}({{ range_of_values() }}) * {{ limit.denominator }} < {{ limit.numerator }}{% endmacro %}

{# What rules a check out: how many rows of a relation are so; how many persons have two values, or lie in two classes. #}
{% macro count_where(relation, condition) %}(SELECT COUNT(*) FROM {{ relation }} WHERE {{ condition }}){% endmacro %}
{% macro persons_in_several_places() %}(SELECT COUNT(*) FROM (SELECT e FROM members GROUP BY e HAVING COUNT(*) > 1) AS found){% endmacro %}

{# Figures of the whole table from the sizes of its classes. #}
{% macro folded(fold, expression) %}{{ fold }}({{ expression }}){% endmacro %}
{% macro some_class() %}SUM(falls_short) > 0{% endmacro %}
{% macro highest_risk() %}CAST(1 AS DOUBLE) / MIN(size){% endmacro %}
{% macro mean_risk() %}CAST(COUNT(*) AS DOUBLE) / SUM(size){% endmacro %}
{% macro members_where(condition) %}SUM(CASE WHEN {{ condition }} THEN size ELSE 0 END){% endmacro %}
{% macro share_where(condition) %}CAST({{ members_where(condition) }} AS DOUBLE) / SUM(size){% endmacro %}
{% macro mean_risk_above(limit) %}CAST(COUNT(*) AS {{ wide }}) * {{ limit.denominator }} > SUM(size) * {{ limit.numerator }}{% endmacro %}
{% macro share_where_above(condition, limit) %}CAST({{ members_where(condition) }} AS {{ wide }}) * {{ limit.denominator }} > SUM(size) * {{ limit.numerator }}{% endmacro %}

{# Maximum disclosure, written out: M(j) of a class is the least product over all ways to put j atoms on its persons. A
   factor is the chance that the person at a place has none of the k most frequent values, given that the persons before
   have none; it is 0 where none is left, so that a class with fewer persons than parts needs no case of its own. #}
{% macro factor(place, k) %}CASE WHEN n - {{ place }} - head_{{ k }} > 0 THEN CAST(n - {{ place }} - head_{{ k }} AS DOUBLE) / (n - {{ place }}) ELSE 0.0 END{% endmacro %}
{% macro least_product(partitions) %}{{ "LEAST(" if partitions | length > 1 }}{% for parts in partitions %}{% for k in parts %}({{ factor(loop.index0, k) }}){{ " * " if not loop.last }}{% endfor %}{{ ", " if not loop.last }}{% endfor %}{{ ")" if partitions | length > 1 }}{% endmacro %}

{# Atoms on other classes than the consequent's may as well lie on the same class, since putting two sets of them on one
   class never raises the product: so the least product of each number of atoms over all classes is enough. #}
{% macro disclosure_relation(key, atoms, partitions) %}
products AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_{{ atoms }} AS head_of_all
    {% for parts in partitions %}
        , {{ least_product(parts) }} AS product_{{ loop.index }}
    {% endfor %}
    FROM facts
),
weakest AS (
    SELECT
        MAX(n) AS largest_class
    {% for parts in partitions %}
        , MIN(product_{{ loop.index }}) AS weakest_{{ loop.index }}
    {% endfor %}
    FROM products
),
disclosed AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_of_all, largest_class,
        CAST(n AS DOUBLE) / head_1 * {{ "LEAST(" if atoms > 1 }}
        {% for own in range(1, atoms + 1) %}
            product_{{ own }}{% if own < atoms %} * {{ others(partitions[atoms - own - 1]) }}{% endif %}{{ "," if not loop.last }}
        {% endfor %}
        {{ ")" if atoms > 1 }} AS ratio
    FROM products
    CROSS JOIN weakest
){% endmacro %}
{% macro others(partitions) %}{{ "LEAST(" if partitions | length > 1 }}{% for parts in partitions %}{% for k in parts %}weakest_{{ k }}{{ " * " if not loop.last }}{% endfor %}{{ ", " if not loop.last }}{% endfor %}{{ ")" if partitions | length > 1 }}{% endmacro %}
{% macro disclosure() %}1 / (1 + ratio){% endmacro %}
{% macro negated_disclosure() %}CAST(head_1 AS DOUBLE) / (n - head_of_all + head_1){% endmacro %}

{# Disclosure of at least c is a ratio of at most (1 - c)/c = numerator/denominator. Two such fractions that differ do so
   by more than 1/(denominators multiplied), so where classes are small a ratio within float error of the limit is it. #}
{% macro told_apart(atoms, limit) %}{% for _ in range(atoms + 1) %}CAST(largest_class AS DOUBLE) * {% endfor %}{{ limit.numerator }} < 100000000000{% endmacro %}
{% macro reaches_ratio(atoms, limit, low, high) %}ratio = 0 OR ratio < {{ low }} OR (ratio <= {{ high }} AND {{ told_apart(atoms, limit) }}){% endmacro %}
{% macro near_ratio(atoms, limit, low, high) %}ratio > 0 AND ratio BETWEEN {{ low }} AND {{ high }} AND NOT ({{ told_apart(atoms, limit) }}){% endmacro %}
