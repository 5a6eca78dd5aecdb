{# Tests of published tables of counts and sums, where a row is a cell. A cell without a number is hidden, and so is one that
   holds a mark that `hidden` names. Totals may give hidden cells back, which no cell tells by itself: so they fail, too, unless
   `hidden_cells` is ignore, because something else has looked at them. #}

{# Every published cell has at least n contributors, or none; with zeros, none is too few, too. #}
{% test min_contributors(model, contributors=none, n=5, zeros=false, by=[], show_values=false, column_name=none, hidden=[], hidden_cells='refuse') -%}
{{ adapter.dispatch('min_contributors_sql', 'sqlaudit')(model, sqlaudit.column_of_cells(contributors, column_name, 'contributors'), n, zeros, by, show_values, hidden, hidden_cells) }}
{%- endtest %}

{% macro default__min_contributors_sql(model, contributors, n, zeros, by, show_values, hidden=[], hidden_cells='refuse') -%}
{%- set n = sqlaudit.whole(n, 'min_contributors', 'n') -%}
{%- set listed = sqlaudit.columns_of(model) -%}
{%- set by = sqlaudit.columns_by(listed, by) -%}
{%- set contributors = sqlaudit.column_named(listed, contributors, 'contributors') -%}
{%- set shown = sqlaudit.shown_key(by, show_values) -%}
SELECT {{ shown }}contributors
FROM (
    SELECT {{ sqlaudit.keys_of_cells(by) }}{{ sqlaudit.number_of_cells(contributors, hidden, sqlaudit.type_of_counts()) }} AS contributors
    FROM {{ model }}
) AS cells
WHERE contributors < {{ n }}{{ ' AND contributors <> 0' if not zeros }}{{ ' OR contributors IS NULL' if sqlaudit.refuses_hidden_cells(hidden_cells) }}
{%- endmacro %}

{# The largest contributions of every cell, n of them, are together at most k percent of its value. A cell whose columns of
   contributions are not in falling order fails. #}
{% test dominance(model, largest, k, value=none, n=none, by=[], show_values=false, column_name=none, hidden=[], hidden_cells='refuse') -%}
{{ adapter.dispatch('dominance_sql', 'sqlaudit')(model, sqlaudit.column_of_cells(value, column_name, 'value'), largest, n, k, by, show_values, hidden, hidden_cells) }}
{%- endtest %}

{% macro default__dominance_sql(model, value, largest, n, k, by, show_values, hidden=[], hidden_cells='refuse') -%}
{%- set listed = sqlaudit.columns_of(model) -%}
{%- set largest = sqlaudit.columns_named(listed, largest, 'largest') -%}
{%- set by = sqlaudit.columns_by(listed, by) -%}
{%- set value = sqlaudit.column_named(listed, value, 'value') -%}
{%- set n = sqlaudit.whole(n if n is not none else largest | length, 'dominance', 'n') -%}
{%- if n > largest | length -%}
    {{ exceptions.raise_compiler_error("sqlaudit: the rule looks at the " ~ n ~ " largest contributions; name as many columns in largest, largest first") }}
{%- endif -%}
{%- set limit = sqlaudit.exact(k, 'dominance', 'k') -%}
{%- set refused = sqlaudit.refuses_hidden_cells(hidden_cells) -%}
{%- set first = sqlaudit.number_of_cells(largest[0], hidden, sqlaudit.type_of_sums()) -%}
{%- set top, unordered = [], [] -%}
{%- for one in largest -%}
    {%- set given = sqlaudit.number_of_cells(one, hidden, sqlaudit.type_of_sums()) -%}
    {%- if loop.index <= n -%}{%- do top.append('COALESCE(' ~ given ~ ', 0)') -%}{%- endif -%}
    {%- if not loop.first -%}
        {%- do unordered.append(sqlaudit.number_of_cells(largest[loop.index0 - 1], hidden, sqlaudit.type_of_sums()) ~ ' < ' ~ given) -%}
    {%- endif -%}
{%- endfor -%}
SELECT {{ sqlaudit.shown_key(by, show_values) }}1 AS unsafe_cell
FROM (
    SELECT {{ sqlaudit.keys_of_cells(by) }}{{ sqlaudit.number_of_cells(value, hidden, sqlaudit.type_of_sums()) }} AS cell_value, {{ top | join(' + ') }} AS top_value{{ ', ' ~ first ~ ' AS first_value' if refused }}{{ ', CASE WHEN ' ~ (unordered | join(' OR ')) ~ ' THEN 1 ELSE 0 END AS unordered' if unordered }}
    FROM {{ model }}
) AS cells
WHERE top_value * {{ 100 * limit.denominator }} > cell_value * {{ limit.numerator }}{{ ' OR cell_value IS NULL OR cell_value <> 0 AND first_value IS NULL' if refused }}{{ ' OR unordered = 1' if unordered }}
{%- endmacro %}

{# No hidden cell is the only one that is missing from a sum: then it is the total without the others. Nor are the published
   parts the whole total: then all hidden ones are 0. Nor is a total more than all its parts: then rows were left out. One sum at a time is looked at; what several sums tell together,
   `sqlaudit aggregates` finds. Contributors, who know their own part, are not thought of. Hidden cells fail in a dimension
   without any total, as one may be there by another name: `total` names it, for each dimension where that is needed, and an
   empty text says that there is none. #}
{% test no_unpickable_cell(model, by, count=none, total='Total', show_values=false, column_name=none, hidden=[]) -%}
{{ adapter.dispatch('no_unpickable_cell_sql', 'sqlaudit')(model, by, sqlaudit.column_of_cells(count, column_name, 'count'), total, show_values, hidden) }}
{%- endtest %}

{% macro default__no_unpickable_cell_sql(model, by, count, total, show_values, hidden=[]) -%}
{%- set listed = sqlaudit.columns_of(model) -%}
{%- set named, by = by, sqlaudit.columns_named(listed, by, 'by') -%}
{%- set count = sqlaudit.column_named(listed, count, 'count') -%}
{%- set keys, labels = [], [] -%}
{%- for _ in by -%}
    {%- do keys.append('q' ~ loop.index) -%}
    {%- if total is mapping -%}
        {%- do labels.append(total[named[loop.index0]] if named[loop.index0] in total else 'Total') -%}
    {%- else -%}
        {%- do labels.append(total) -%}
    {%- endif -%}
{%- endfor -%}
{%- set others = namespace(names=[]) -%}
WITH cells AS (
    SELECT
        {{ sqlaudit.keys_of_cells(by) }}{{ sqlaudit.number_of_cells(count, hidden, sqlaudit.type_of_counts()) }} AS cell_count
        {%- for name in by -%}
        ,
        {%- set label = labels[loop.index0] %}
        CASE WHEN {{ '1 = 0' if label == '' else name ~ ' IS NULL' if label is none else name ~ ' = ' ~ dbt.string_literal(dbt.escape_single_quotes(label)) }} THEN 1 ELSE 0 END AS is_total_{{ loop.index }}
        {%- endfor %}
    FROM {{ model }}
),
sums AS (
    SELECT
        cells.*
        {%- for _ in by -%}
        {%- set place = loop.index -%}
        {%- set others.names = keys | reject('equalto', 'q' ~ place) | list -%}
        {%- set apart = 'PARTITION BY ' ~ (others.names | join(', ')) if others.names else '' -%}
        ,
        SUM(CASE WHEN is_total_{{ place }} = 0 THEN 1 ELSE 0 END) OVER ({{ apart }}) AS parts_{{ place }},
        SUM(CASE WHEN is_total_{{ place }} = 1 THEN 1 ELSE 0 END) OVER ({{ apart }}) AS totals_{{ place }},
        SUM(is_total_{{ place }}) OVER () AS every_total_{{ place }},
        SUM(CASE WHEN cell_count IS NULL THEN 1 ELSE 0 END) OVER ({{ apart }}) AS hidden_{{ place }},
        SUM(CASE WHEN is_total_{{ place }} = 1 THEN cell_count END) OVER ({{ apart }}) AS total_{{ place }},
        SUM(CASE WHEN is_total_{{ place }} = 0 THEN COALESCE(cell_count, 0) ELSE 0 END) OVER ({{ apart }}) AS published_{{ place }}
        {%- endfor %}
    FROM cells
)
SELECT {{ sqlaudit.shown_key(by, show_values) }}1 AS hidden_cell
FROM sums
WHERE
    cell_count IS NULL
    AND (
        {%- for _ in by -%}
        {{ ' OR ' if not loop.first }}{{ 'every_total_' ~ loop.index ~ ' = 0 OR ' if labels[loop.index0] != '' }}(totals_{{ loop.index }} = 1 AND parts_{{ loop.index }} > 0 AND (hidden_{{ loop.index }} = 1 OR is_total_{{ loop.index }} = 0 AND total_{{ loop.index }} = published_{{ loop.index }}))
        {%- endfor -%}
    )
    {%- for _ in by %}
    OR is_total_{{ loop.index }} = 1 AND totals_{{ loop.index }} = 1 AND parts_{{ loop.index }} > 0 AND hidden_{{ loop.index }} = 0 AND cell_count > published_{{ loop.index }}
    {%- endfor %}
{%- endmacro %}

{# No cell changed by 1 to n - 1 since an older release: both together would tell of these few. Where cells are gone and others
   have come, these may be the same by another name, which no one sees from cells: both fail, unless `other_cells` is ignore. #}
{% test no_differencing(model, before, by, count=none, n=5, show_values=false, column_name=none, hidden=[], hidden_cells='refuse', other_cells='refuse') -%}
{{ adapter.dispatch('no_differencing_sql', 'sqlaudit')(model, before, by, sqlaudit.column_of_cells(count, column_name, 'count'), n, show_values, hidden, hidden_cells, other_cells) }}
{%- endtest %}

{% macro default__no_differencing_sql(model, before, by, count, n, show_values, hidden=[], hidden_cells='refuse', other_cells='refuse') -%}
{%- set n = sqlaudit.whole(n, 'no_differencing', 'n') -%}
{%- set listed, others = sqlaudit.columns_of(model), sqlaudit.columns_of(before) -%}
{%- set older = {'by': sqlaudit.columns_named(others, by, 'by'), 'count': sqlaudit.column_named(others, count, 'count')} -%}
{%- set by, count = sqlaudit.columns_named(listed, by, 'by'), sqlaudit.column_named(listed, count, 'count') -%}
{%- set keys = [] -%}
{%- for _ in by -%}
    {%- do keys.append('q' ~ loop.index) -%}
{%- endfor -%}
{%- set number = sqlaudit.number_of_cells(count, hidden, sqlaudit.type_of_counts()) -%}
{%- set refused = sqlaudit.refuses_other_cells(other_cells) -%}
SELECT {{ sqlaudit.shown_key(by, show_values) }}changed
FROM (
    SELECT
        {{ keys | join(', ') }},
        SUM(CASE WHEN cell_count IS NULL THEN 1 ELSE 0 END) AS hidden,
        ABS(SUM(cell_count)) AS changed
        {%- if refused -%}
        ,
        MAX(is_new) AS has_new,
        MAX(is_old) AS has_old,
        SUM(1 - MAX(is_new)) OVER () AS gone,
        SUM(1 - MAX(is_old)) OVER () AS come
        {%- endif %}
    FROM (
        SELECT {{ sqlaudit.keys_of_cells(by) }}{{ number }} AS cell_count{{ ', 1 AS is_new, 0 AS is_old' if refused }}
        FROM {{ model }}
        UNION ALL
        SELECT {{ sqlaudit.keys_of_cells(older.by) }}-({{ sqlaudit.number_of_cells(older.count, hidden, sqlaudit.type_of_counts()) }}) AS cell_count{{ ', 0 AS is_new, 1 AS is_old' if refused }}
        FROM {{ before }}
    ) AS both_releases
    GROUP BY {{ keys | join(', ') }}
) AS changes
WHERE hidden = 0 AND changed > 0 AND changed < {{ n }}{{ ' OR hidden > 0' if sqlaudit.refuses_hidden_cells(hidden_cells) }}{{ ' OR gone > 0 AND come > 0 AND (has_new = 0 OR has_old = 0)' if refused }}
{%- endmacro %}

{# The columns of the keys, where a test may have none. #}
{% macro columns_by(columns, by) -%}
{{ return(sqlaudit.columns_named(columns, by, 'by') if by else []) }}
{%- endmacro %}

{# The keys of cells as q1, q2, … #}
{% macro keys_of_cells(by) -%}
{%- set listed = [] -%}
{%- for name in by -%}
    {%- do listed.append(name ~ ' AS q' ~ loop.index ~ ', ') -%}
{%- endfor -%}
{{ return(listed | join('')) }}
{%- endmacro %}

{# The column that is named, or the one that the test stands under. #}
{% macro column_of_cells(named, column_name, argument) -%}
{%- if named is none and column_name is none -%}
    {{ exceptions.raise_compiler_error("sqlaudit: name the column of cells (" ~ argument ~ "), or put the test under it") }}
{%- endif -%}
{{ return(named if named is not none else column_name) }}
{%- endmacro %}

{# A column as a number; without one where a cell holds a mark of hidden cells. #}
{% macro number_of_cells(column, hidden, type) -%}
{%- if hidden is string or hidden is mapping -%}
    {{ exceptions.raise_compiler_error("sqlaudit: hidden is a list of marks such as ['*'], not " ~ hidden) }}
{%- endif -%}
{%- if not hidden -%}
    {{ return(column) }}
{%- endif -%}
{%- set found = namespace(sql='TRIM(CAST(' ~ column ~ ' AS ' ~ dbt.type_string() ~ '))') -%}
{%- for mark in hidden -%}
    {%- set found.sql = 'NULLIF(' ~ found.sql ~ ', ' ~ dbt.string_literal(dbt.escape_single_quotes(mark | string | trim)) ~ ')' -%}
{%- endfor -%}
{{ return('CAST(' ~ found.sql ~ ' AS ' ~ type ~ ')') }}
{%- endmacro %}

{# Whether hidden cells fail. #}
{% macro refuses_hidden_cells(hidden_cells) -%}
{%- if hidden_cells not in ['refuse', 'ignore'] -%}
    {{ exceptions.raise_compiler_error("sqlaudit: hidden_cells is refuse or ignore, not " ~ hidden_cells) }}
{%- endif -%}
{{ return(hidden_cells == 'refuse') }}
{%- endmacro %}

{# Whether cells fail that only one of two releases has, where each has some. #}
{% macro refuses_other_cells(other_cells) -%}
{%- if other_cells not in ['refuse', 'ignore'] -%}
    {{ exceptions.raise_compiler_error("sqlaudit: other_cells is refuse or ignore, not " ~ other_cells) }}
{%- endif -%}
{{ return(other_cells == 'refuse') }}
{%- endmacro %}
