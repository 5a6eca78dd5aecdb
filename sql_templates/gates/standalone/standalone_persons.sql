{# A requirement on persons with many rows as one statement with one row: each person is a class of its own here. `known`
   events that somebody knows, 0 = all of them; `limit` persons must share them. With `counted`, persons have at most
   `limit` rows or groups. Without a `limit` the figures alone. `spellings`, `unfolded`: see `standalone.sql`; `returns`:
   see `_answers.sql`. #}
{% import "gates/standalone/_answers.sql" as answers %}
{% import "classes/_rows.sql" as rows %}
{% import "gates/standalone/_standalone_persons.sql" as persons %}
{% import "gates/standalone/_standalone.sql" as pieces %}
{% import "gates/standalone/_written_out.sql" as relation with context %}
{% set key = rows.key_columns(keys, false) %}
{% set level = "level_" ~ (counted or "k") %}
{% set fails = "number > " ~ limit if counted else persons.person_falls_short(limit) %}
WITH {{ persons.events(source, rows.target_columns(keys, none, entity, false), key, keys | length, solo) }},
{% if counted %}
contributions AS (
    SELECT e, {{ "SUM(row_count)" if counted == "rows" else "COUNT(DISTINCT event)" }} AS number FROM numbered GROUP BY e
),
{% else %}
{{ persons.least_shared(known) if known else persons.persons_alike(solo) }},
{% endif %}
judged AS (
    SELECT
        COUNT(*) AS classes,
        {{ "MAX(number)" if counted else "MIN(" ~ persons.persons_found() ~ ")" }} AS {{ level }}
    {% if limit is not none %}
        , CAST(COALESCE(SUM(CASE WHEN {{ fails }} THEN 1 ELSE 0 END), 0) AS BIGINT) AS failing
    {% endif %}
    {% if counted %}
    FROM contributions
    {% else %}
    FROM people
    LEFT JOIN {{ "least" if known else "alike" }} AS found ON found.e = people.e
    {% endif %}
),
counted AS (
    SELECT
        COUNT(*) AS table_rows,
        CAST(COALESCE(SUM(CASE WHEN e IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
        {% for one in spellings %}
            + {{ relation.spelled_in_several_ways(**one) }}
        {% endfor %}
        {% for unread, unsure in unfolded %}
            + {{ pieces.count_where(unread, unsure ~ " > 0") }}
        {% endfor %}
            AS unusable
    FROM person_rows
)
{{- answers.opening(returns) }}
SELECT
    judged.classes,
    counted.table_rows,
{% if limit is not none %}
    judged.failing AS failing_classes,
    judged.failing AS failing_rows,
    0 AS undecided_classes,
    counted.unusable,
{% endif %}
    judged.{{ level }}
{%- if limit is not none %},
    CASE
        WHEN counted.table_rows = 0 OR counted.unusable > 0 THEN 'undecided'
        WHEN judged.failing > 0 THEN 'fail'
        ELSE 'pass'
    END AS verdict
{%- endif %}

FROM judged
CROSS JOIN counted
{{ answers.closing(returns, test_id, level, "failing_rows", row_columns) }}
