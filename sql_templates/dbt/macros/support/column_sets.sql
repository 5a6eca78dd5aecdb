{# The minimal sets of at most max_size columns that put more than a share of the rows into classes below k. #}
{% test column_sets(model, quasi_identifiers, k=5, max_size=3, tolerance=0, entity=none, values=none) -%}
{{ adapter.dispatch('column_sets_sql', 'sqlaudit')(model, quasi_identifiers, k, max_size, tolerance, entity, values) }}
{%- endtest %}

{% macro default__column_sets_sql(model, quasi_identifiers, k, max_size, tolerance, entity, values) -%}
{%- set k, max_size = sqlaudit.whole(k, 'column_sets', 'k'), sqlaudit.whole(max_size, 'column_sets', 'max_size') -%}
{%- set limit = sqlaudit.exact(tolerance, 'column_sets', 'tolerance') -%}
{%- set listed = sqlaudit.columns_of(model) -%}
{%- set columns = sqlaudit.columns_named(listed, quasi_identifiers, 'quasi_identifiers') -%}
{%- set entity = sqlaudit.entity_named(listed, entity) -%}
{%- set sets, names = [], [] -%}
{%- for name in quasi_identifiers -%}
    {%- do names.append(dbt.string_literal(dbt.escape_single_quotes(name | string))) -%}
{%- endfor -%}
{%- set state = namespace(wider=[[]]) -%}
{%- for _ in range([max_size | int, names | length] | min) -%}
    {%- set wider = [] -%}
    {%- for set in state.wider -%}
        {%- for place in range((set[-1] if set else 0) + 1, names | length + 1) -%}
            {%- do wider.append(set + [place]) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- do sets.extend(wider) -%}
    {%- set state.wider = wider -%}
{%- endfor -%}
{%- if sets | length > 500 -%}
    {{ exceptions.raise_compiler_error("sqlaudit: " ~ sets | length ~ " sets of columns are too many for one statement; lower max_size, or take `sqlaudit columns`") }}
{%- endif -%}
WITH {{ sqlaudit.column_sets(model, columns, sqlaudit.letters_of_all(columns), sets, k, sqlaudit.read(entity, values)) }},
{{ sqlaudit.violating_sets(columns, limit.numerator, limit.denominator, entity) }}
SELECT
    {{ sqlaudit.set_in_words(names) }} AS column_set,
    columns_in_set,
    smallest AS smallest_class,
    at_risk AS n_records
FROM compared
WHERE violating_subsets = 0
{%- if entity is not none %}
UNION ALL
SELECT 'who is named in several ways counts as several persons', 0, 0, persons
FROM (SELECT {{ sqlaudit.unread('target', 'e', values, model, entity) }} AS persons) AS named
WHERE persons > 0
{%- endif %}
{%- endmacro %}
