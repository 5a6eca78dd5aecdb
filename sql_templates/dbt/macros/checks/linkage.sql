{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test linkage(model, quasi_identifiers, reference, k=2, reference_quasi_identifiers=none, reference_entity=none, entity=none, show_values=false, values=none) -%}
{{ adapter.dispatch('linkage_sql', 'sqlaudit')(model, quasi_identifiers, reference, k, reference_quasi_identifiers, reference_entity, entity, show_values, values) }}
{%- endtest %}

{% macro default__linkage_sql(model, quasi_identifiers, population, k, population_quasi_identifiers, population_entity, entity, show_values, values) -%}
{%- set others = population_quasi_identifiers or quasi_identifiers -%}
{%- set other_entity = population_entity if population_entity is not none else entity -%}
{%- set listed = sqlaudit.columns_of(model) -%}
{%- set quasi_identifiers = sqlaudit.columns_named(listed, quasi_identifiers, 'quasi_identifiers') -%}
{%- set entity = sqlaudit.entity_named(listed, entity) -%}
{%- set listed_others = sqlaudit.columns_of(population) -%}
{%- set others = sqlaudit.columns_named(listed_others, others, 'quasi_identifiers') -%}
{%- set other_entity = sqlaudit.entity_named(listed_others, other_entity) -%}
{%- do sqlaudit.refuse_other_length(quasi_identifiers, others) -%}
{%- set k = sqlaudit.whole(k, 'linkage', 'k') -%}
{%- set keys = sqlaudit.with_letters(quasi_identifiers) -%}
{%- set person, other = sqlaudit.read(entity, values), sqlaudit.read(other_entity, values) -%}
{%- set columns = sqlaudit.target_columns(keys, none, person, false) -%}
{%- set population_columns = sqlaudit.target_columns(sqlaudit.with_letters(others), none, other, false) -%}
{%- set key = sqlaudit.key_columns(keys, false) -%}
{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}
WITH {{ sqlaudit.population_sizes(model, columns, population, population_columns, key, entity, other_entity) }}
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , population_size AS people
FROM facts
WHERE (size > 0 AND population_size > 0 AND population_size < {{ k }}
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
    OR {{ sqlaudit.unread('target', 'e', values, model, entity, listed) }} > 0
    OR {{ sqlaudit.unread('population', 'e', values, population, other_entity, listed_others) }} > 0
{%- endif %}
) AND size > 0
{%- endmacro %}
