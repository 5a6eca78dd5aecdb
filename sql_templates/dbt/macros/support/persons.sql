{# Rows that belong to persons: for whom a test is, and tests on what all events of a person tell. #}

{# Who is judged: who knows one row of a person, who knows all of them, or each. #}
{% macro rows_known(entity, known_rows) -%}
{%- if known_rows not in ['worse', 'one', 'all'] -%}
    {{ exceptions.raise_compiler_error("sqlaudit: known_rows is worse (of both), one or all, not " ~ known_rows) }}
{%- endif -%}
{{ return(['one'] if entity is none else ['one', 'all'] if known_rows == 'worse' else [known_rows]) }}
{%- endmacro %}

{# What the statement of a test reads for an attacker who knows so many rows of a person. Where both are judged, who knows all
   rows counts where some person has more than one combination. #}
{% macro side(known, known_rows, listed, tested, quasi_identifiers, sensitive, entity, solo, show_values) -%}
{%- set keys = sqlaudit.with_letters(quasi_identifiers, listed) -%}
{%- if known == 'one' -%}
{{ return({
    'relations': '',
    'source': tested,
    'columns': sqlaudit.target_columns(keys, sensitive, entity, solo, 'ORDER BY ' ~ keys[0]),
    'key': sqlaudit.key_columns(keys, solo),
    'entity': entity,
    'shown': sqlaudit.shown_key(quasi_identifiers, show_values)
}) }}
{%- endif -%}
{%- set columns = sqlaudit.target_columns(keys, 'NULL' if sensitive is none else sensitive, entity, false) -%}
{%- set key = sqlaudit.key_columns(keys, false) -%}
{{ return({
    'relations': sqlaudit.all_rows(tested, columns, key, keys | length, solo, known_rows == 'worse') ~ ',\n',
    'source': 'all_rows',
    'columns': sqlaudit.target_columns(['known'], none if sensitive is none else 'told', 'person', false),
    'key': 'q1',
    'entity': 'person',
    'shown': ''
}) }}
{%- endmacro %}

{# One statement of those for who knows one row and for who knows all. Only the former has a key to show. #}
{% macro both_sides(statements, quasi_identifiers, show_values, figures) -%}
{%- if statements | length == 1 -%}
    {{ return(statements[0]) }}
{%- endif -%}
{%- set names = sqlaudit.shown_names(quasi_identifiers, show_values) -%}
{%- set listed = figures | join(', ') -%}
SELECT {% for name in names %}{{ name }}, {% endfor %}{{ listed }}, 'one' AS known_rows
FROM (
{{ statements[0] }}
) AS for_one_row
UNION ALL
SELECT {% for name in names %}NULL, {% endfor %}{{ listed }}, 'all'
FROM (
{{ statements[1] }}
) AS for_all_rows
{%- endmacro %}

{# Any set of at most m events of somebody is shared by k persons. #}
{% test km_anonymity(model, quasi_identifiers, entity, k, m=2, nulls='equal', show_values=false, values=none) -%}
{%- if m | string not in ['1', '2'] -%}
    {{ exceptions.raise_compiler_error("sqlaudit: km_anonymity is written out for m of 1 and 2, not " ~ m ~ "; `sqlaudit audit` takes more") }}
{%- endif -%}
{{ adapter.dispatch('persons_short_sql', 'sqlaudit')(model, quasi_identifiers, entity, sqlaudit.whole(k, 'km_anonymity', 'k'), m | int, nulls, show_values, values) }}
{%- endtest %}

{# All events of somebody are those of k persons. #}
{% test profile_k_anonymity(model, quasi_identifiers, entity, k, nulls='equal', show_values=false, values=none) -%}
{{ adapter.dispatch('persons_short_sql', 'sqlaudit')(model, quasi_identifiers, entity, sqlaudit.whole(k, 'profile_k_anonymity', 'k'), 0, nulls, show_values, values) }}
{%- endtest %}

{# A row for each person who fails, for each row without one, and for all where it is unclear who is one person.
   `known` events are known, 0 = all. #}
{% macro default__persons_short_sql(tested, quasi_identifiers, entity, k, known, nulls, show_values, values) -%}
{%- set listed = sqlaudit.columns_of(tested) -%}
{%- set quasi_identifiers = sqlaudit.columns_named(listed, quasi_identifiers, 'quasi_identifiers') -%}
{%- set entity = sqlaudit.column_named(listed, entity, 'entity') -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set keys = sqlaudit.with_letters(quasi_identifiers, listed) -%}
{%- set columns = sqlaudit.target_columns(keys, none, sqlaudit.read(entity, values), false) -%}
{%- set key = sqlaudit.key_columns(keys, false) -%}
WITH {{ sqlaudit.events(tested, columns, key, keys | length, solo) }},
{{ sqlaudit.least_shared(known) if known else sqlaudit.persons_alike(solo) }}
SELECT {{ "people.e AS person, " if show_values }}{{ sqlaudit.persons_found() }} AS persons
FROM people
LEFT JOIN {{ "least" if known else "alike" }} AS found ON found.e = people.e
WHERE {{ sqlaudit.person_falls_short(k) }}
UNION ALL
SELECT {{ "e, " if show_values }}0
FROM person_rows
WHERE e IS NULL OR {{ sqlaudit.unread('person_rows', 'e', values, tested, entity, listed) }} > 0
{%- endmacro %}
