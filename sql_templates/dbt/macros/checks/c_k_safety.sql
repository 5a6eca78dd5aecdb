{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test c_k_safety(model, quasi_identifiers, c, k=3, sensitive=none, column_name=none, entity=none, nulls='equal', known_rows='worse', show_values=false, values=none) -%}
{{ adapter.dispatch('c_k_safety_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), c, k, entity, nulls, known_rows, show_values, values) }}
{%- endtest %}

{% macro default__c_k_safety_sql(model, quasi_identifiers, sensitive, c, k, entity, nulls, known_rows, show_values, values) -%}
{%- set listed = sqlaudit.columns_of(model) -%}
{%- set quasi_identifiers = sqlaudit.columns_named(listed, quasi_identifiers, 'quasi_identifiers') -%}
{%- set entity = sqlaudit.entity_named(listed, entity) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set named, sensitive = sensitive, sqlaudit.column_named(listed, sensitive, 'sensitive') -%}
{%- do sqlaudit.refuse_knowledge(k) -%}
{%- set c = sqlaudit.ratio_limit(c) -%}
{%- set atoms = k | int + 1 -%}
{%- set partitions = [[[1]], [[2], [1, 1]], [[3], [2, 1], [1, 1, 1]], [[4], [3, 1], [2, 2], [2, 1, 1], [1, 1, 1, 1]]][:atoms] -%}
{%- set statements = [] -%}
{%- for known in sqlaudit.rows_known(entity, known_rows) -%}
{%- set side = sqlaudit.side(known, known_rows, listed, model, quasi_identifiers, sqlaudit.read(sensitive, values, true), sqlaudit.read(entity, values), solo, show_values) -%}
{%- set statement -%}
{%- set facts %}{%- for rank in range(1, atoms + 1) %}
        , SUM(CASE WHEN position <= {{ rank }} THEN c ELSE 0 END) AS head_{{ rank }}{%- endfor %}
{%- endset %}
WITH {{ side.relations }}{{ sqlaudit.class_facts(side.source, side.columns, side.key, side.entity, facts, ['positions']) }},
{{ sqlaudit.disclosure_relation(side.key, atoms, partitions) }}
SELECT
    {{ side.shown }}size AS class_size,
    row_count AS n_records
    , 1 / (1 + ratio) AS level_disclosure
FROM disclosed
WHERE ({{ sqlaudit.reaches_ratio(atoms, c, c.low, c.high) }}
    OR {{ sqlaudit.near_ratio(atoms, c, c.low, c.high) }}
    OR {{ sqlaudit.unread_values(values, model, sensitive, listed) }} > 0
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
    OR (SELECT COUNT(*) FROM (SELECT e FROM members GROUP BY e HAVING COUNT(*) > 1) AS found) > 0
    OR {{ sqlaudit.unread('target', 'e', values, model, entity, listed) }} > 0
{%- endif %}
)
{%- endset -%}
{%- do statements.append(statement) -%}
{%- endfor -%}
{{ sqlaudit.both_sides(statements, quasi_identifiers, show_values, ['class_size', 'n_records', 'level_disclosure']) }}
{%- endmacro %}
