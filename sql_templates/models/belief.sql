{# What an attacker who knows the population believes of the people in each class of the table. Table and population
   are stacked, and windows add up what belongs together, so that NULLs are equal and nothing is joined on keys.
   q1, q2, … are the class, o1, o2, … the original quasi-identifiers, s the sensitive value. The stage says what comes
   back: "totals", the "cases" that floats do not decide, or the "classes" with their keys, where `at_limit` holds the
   cases that were decided to be breaches; or of one "person" what each belief is made of, where `stated` says of each
   original quasi-identifier whether it holds numbers, and its parameter. #}
{% set with_cases = stage == "cases" or at_limit %}
{% import "classes/_rows.sql" as rows %}
{% import "classes/_target.sql" as parts with context %}
{% set class = rows.key_columns(keys, false) or "1" %}
{% macro named(columns, letter) %}{% for column in columns %}{{ column }} AS {{ letter }}{{ loop.index }}, {% endfor %}{% endmacro %}
{% macro names(columns, letter) %}{% for column in columns %}{{ letter }}{{ loop.index }}, {% endfor %}{% endmacro %}
{% set same_person = names(keys, "q") ~ names(originals, "o") ~ "1" %}
{% macro prior_holds(limit) %}{% if limit.prior_operator %}CAST(people AS {{ wide }}) * {{ limit.prior.denominator }} {{ limit.prior_operator }} CAST(people_alike AS {{ wide }}) * {{ limit.prior.numerator }} AND {% endif %}{% endmacro %}
{% macro is_clear(limit) %}{{ prior_holds(limit) }}{% if limit.operator == ">" %}posterior > {{ limit.high }}{% else %}(posterior < {{ limit.low }} OR (posterior = 0 AND {{ 1 if limit.posterior > 0 else 0 }} = 1)){% endif %}{% endmacro %}
{% macro is_doubtful(limit) %}{{ prior_holds(limit) }}posterior > 0 AND posterior BETWEEN {{ limit.low }} AND {{ limit.high }}{% endmacro %}
{% macro any_limit(test) %}{% for limit in limits %}({{ test(limit) }}){{ " OR " if not loop.last }}{% else %}1 = 0{% endfor %}{% endmacro %}
WITH {{ parts.target(source, keys, sensitive, entity, false) }},
{{ parts.lanes(entity, text) }},
population AS (
    SELECT
        {{ named(population_keys, "q") }}
        {{ named(originals, "o") }}
        {{ population_sensitive }} AS s
    FROM {{ population }} AS people
),
cells AS (
    SELECT {{ names(keys, "q") }}{{ names(originals, "o") }}s, 0 AS n, 0 AS table_rows, COUNT(*) AS people
    FROM population
    GROUP BY {{ names(keys, "q") }}{{ names(originals, "o") }}s
    UNION ALL
    SELECT
        {{ names(keys, "q") }}
        {% for _ in originals %}NULL, {% endfor %}

        s, {{ "COUNT(DISTINCT e)" if entity is not none else "COUNT(*)" }}, COUNT(*), 0
    FROM target
    GROUP BY {{ names(keys, "q") }}s
),
domain AS (
    SELECT COUNT(*) AS values_in_all
    FROM (SELECT DISTINCT s FROM cells) AS seen
),
added AS (
    SELECT
        cells.*,
        SUM(n) OVER (PARTITION BY {{ names(keys, "q") }}s) AS n_with_value,
        SUM(people) OVER (PARTITION BY {{ names(keys, "q") }}s) AS people_with_value,
        SUM(n) OVER (PARTITION BY {{ class }}) AS class_size,
        SUM(table_rows) OVER (PARTITION BY {{ class }}) AS class_rows
    FROM cells
),
terms AS (
    SELECT
        added.*,
        CASE WHEN added.s IS NULL THEN {{ null_lane }} ELSE COALESCE(lanes.lane, -1) END AS lane,
        {% if factors is not none %}
        CAST(CASE CASE WHEN added.s IS NULL THEN {{ null_lane }} ELSE lanes.lane END{% for factor in factors %} WHEN {{ loop.index0 }} THEN {{ factor }}{% endfor %} ELSE 1 END AS DOUBLE) *
        {% endif %}
        CAST(n_with_value AS DOUBLE) * people / people_with_value AS term
    FROM added
    LEFT JOIN lanes ON added.s = lanes.s
    WHERE people > 0 AND class_size > 0
),
weighed AS (
    SELECT
        terms.*,
        SUM(term) OVER (PARTITION BY {{ same_person }}) AS all_terms,
        SUM(people) OVER (PARTITION BY {{ same_person }}) AS people_alike,
        COUNT(*) OVER (PARTITION BY {{ same_person }}) AS values_here
    FROM terms
),
beliefs AS (
    SELECT weighed.*, CASE WHEN all_terms > 0 THEN term / all_terms END AS posterior
    FROM weighed
),
tested AS (
    SELECT
        beliefs.*,
        CASE WHEN {{ any_limit(is_clear) }} THEN 1 ELSE 0 END AS breached,
        CASE WHEN NOT ({{ any_limit(is_clear) }}) AND ({{ any_limit(is_doubtful) }}) THEN 1 ELSE 0 END AS doubtful
    FROM beliefs
),
alike AS (
    SELECT
        {{ names(keys, "q") }}{{ names(originals, "o") }}
        MAX(class_rows) AS class_rows,
        MAX(posterior) AS highest,
        CASE WHEN MAX(posterior) IS NULL THEN NULL WHEN MAX(values_here) < MAX(domain.values_in_all) THEN 0.0 ELSE MIN(posterior) END AS lowest,
        SUM(breached){% if of_absent %} + CASE WHEN MAX(posterior) IS NULL THEN 0 ELSE MAX(domain.values_in_all) - MAX(values_here) END{% endif %} AS breaches,
        MAX(doubtful) AS doubtful
        {% if with_cases %}
        , CASE WHEN MAX(doubtful) = 1 THEN STRING_AGG(
            CAST(lane AS TEXT) || ':' || CAST(n_with_value AS TEXT) || ':' || CAST(people AS TEXT) || ':' || CAST(people_with_value AS TEXT) || ':' || CAST(doubtful AS TEXT),
            ',' ORDER BY lane, people, n_with_value, people_with_value, doubtful
        ) END AS cases
        {% endif %}
    FROM tested
    CROSS JOIN domain
    GROUP BY {{ names(keys, "q") }}{{ names(originals, "o") }}domain.values_in_all
),
classes AS (
    SELECT
        {{ names(keys, "q") if stage == "classes" }}
        MAX(class_rows) AS class_rows,
        MAX(highest) AS highest,
        MIN(lowest) AS lowest,
        COUNT(*) AS people,
        SUM(CASE WHEN highest IS NULL THEN 1 ELSE 0 END) AS impossible,
        SUM(breaches) AS breaches,
        MAX(doubtful) AS doubtful
        {% if with_cases %}
        , STRING_AGG(cases, '|' ORDER BY cases) AS cases
        {% endif %}
    FROM alike
    {{ "GROUP BY " ~ class if keys }}
)
{% if stage == "person" %}
SELECT {{ names(keys, "q") }}lane, n_with_value, people, people_with_value
FROM terms
WHERE
{%- for is_number, parameter in stated %} {{ "o" ~ loop.index if is_number else "CAST(o" ~ loop.index ~ " AS VARCHAR)" }} IS NOT DISTINCT FROM {{ parameter }}{{ " AND" if not loop.last }}{% endfor %}

{% elif stage == "cases" %}
SELECT
    CASE WHEN breaches > 0 THEN 1 ELSE 0 END AS already,
    cases,
    COUNT(*) AS classes,
    CAST(SUM(class_rows) AS BIGINT) AS table_rows
FROM classes
WHERE doubtful = 1
GROUP BY CASE WHEN breaches > 0 THEN 1 ELSE 0 END, cases
LIMIT {{ most }}
{% elif stage == "classes" %}
SELECT
    {{ names(keys, "q") }}
    CASE WHEN breaches > 0{% if at_limit %} OR cases IN ({% for case in at_limit %}'{{ case }}'{{ ", " if not loop.last }}{% endfor %}){% endif %} THEN 1 ELSE 0 END AS short,
    highest,
    lowest
FROM classes
{% else %}
SELECT
    (SELECT COUNT(*) FROM added WHERE n > 0 AND people_with_value = 0) AS unknown,
    MAX(highest) AS highest,
    MIN(lowest) AS lowest,
    CAST(SUM(people) AS BIGINT) AS people,
    CAST(SUM(impossible) AS BIGINT) AS impossible,
    CAST(SUM(breaches) AS BIGINT) AS breaches,
    CAST(SUM(CASE WHEN breaches > 0 THEN 1 ELSE 0 END) AS BIGINT) AS failing_classes,
    CAST(SUM(CASE WHEN breaches > 0 THEN class_rows ELSE 0 END) AS BIGINT) AS failing_rows,
    CAST(SUM(doubtful) AS BIGINT) AS doubtful
FROM classes
{% endif %}
