{# A requirement on persons with many rows as one statement with one row: each person is a class of its own here. `known`
   events that somebody knows, 0 = all of them; `k` persons must share them, none = the figures alone. `spellings`,
   `unfolded`: see `standalone.sql`; `returns`: see `_answers.sql`. #}
{% import "gates/standalone/_answers.sql" as answers %}
{% import "classes/_rows.sql" as rows %}
{% import "gates/standalone/_standalone_persons.sql" as persons %}
{% import "gates/standalone/_standalone.sql" as pieces %}
{% import "gates/standalone/_written_out.sql" as relation with context %}
{% set key = rows.key_columns(keys, false) %}
WITH {{ persons.events(source, rows.target_columns(keys, none, entity, false), key, keys | length, solo) }},
{{ persons.least_shared(known) if known else persons.persons_alike() }},
judged AS (
    SELECT
        COUNT(*) AS classes,
        MIN({{ persons.persons_found() }}) AS level_k
    {% if k is not none %}
        , CAST(COALESCE(SUM(CASE WHEN {{ persons.person_falls_short(k) }} THEN 1 ELSE 0 END), 0) AS BIGINT) AS failing
    {% endif %}
    FROM people
    LEFT JOIN {{ "least" if known else "alike" }} AS found ON found.e = people.e
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
{% if k is not none %}
    judged.failing AS failing_classes,
    judged.failing AS failing_rows,
    0 AS undecided_classes,
    counted.unusable,
{% endif %}
    judged.level_k
{%- if k is not none %},
    CASE
        WHEN counted.table_rows = 0 OR counted.unusable > 0 THEN 'undecided'
        WHEN judged.failing > 0 THEN 'fail'
        ELSE 'pass'
    END AS verdict
{%- endif %}

FROM judged
CROSS JOIN counted
{{ answers.closing(returns, test_id, "level_k", "failing_rows", row_columns) }}
