{# A synthetic table beside the table that it was made from: who is unique in both, whose sensitive value is disclosed, and
   which rows are copies. A test that fails has one row of counts. It fails for an empty table, too, and where a column has no
   value that is in both tables: what is spelled in another way hides all that is disclosed. #}
{% test rep_u(model, quasi_identifiers, original, share) -%}
{%- set limit = sqlaudit.exact(share, 'rep_u', 'share') -%}
WITH {{ sqlaudit.synthetic_cells(model, original, sqlaudit.columns_of_both(model, original, quasi_identifiers, 'quasi_identifiers')) }}
{{ sqlaudit.synthetic_failing('cells', 'CASE WHEN d = 1 AND s = 1 THEN 1 ELSE 0 END', limit, quasi_identifiers | length) }}
{%- endtest %}

{% test disco(model, quasi_identifiers, original, share, sensitive=none, column_name=none, values=none) -%}
{%- set limit = sqlaudit.exact(share, 'disco', 'share') -%}
{%- set named = sqlaudit.columns_of_both(model, original, [sqlaudit.sensitive_column(sensitive, column_name)], 'sensitive') -%}
{%- set columns = sqlaudit.columns_of_both(model, original, quasi_identifiers, 'quasi_identifiers') -%}
{%- do columns[0].append(sqlaudit.read(named[0][0], values, true)) -%}
{%- do columns[1].append(sqlaudit.read(named[1][0], values, true)) -%}
WITH {{ sqlaudit.synthetic_cells(model, original, columns) }},
target AS (
    SELECT c{{ columns[0] | length }} AS s
    FROM stacked
),
groups_of_people AS (
    SELECT
        SUM(d) AS d,
        SUM(s) AS s,
        CASE WHEN COUNT(CASE WHEN s > 0 THEN 1 END) = 1 THEN SUM(CASE WHEN s > 0 THEN d ELSE 0 END) ELSE 0 END AS told
    FROM cells
    GROUP BY {% for _ in quasi_identifiers %}c{{ loop.index }}{{ ', ' if not loop.last }}{% endfor %}

)
{{ sqlaudit.synthetic_failing('groups_of_people', 'told', limit, columns[0] | length, sqlaudit.unread('target', 's', values, model, named[0][0])) }}
{%- endtest %}

{% test exact_copies(model, columns, original, rows=0) -%}
{%- set rows = sqlaudit.whole(rows, 'exact_copies', 'rows') -%}
WITH {{ sqlaudit.synthetic_cells(model, original, sqlaudit.columns_of_both(model, original, columns, 'columns')) }}
SELECT original_rows, synthetic_rows, n_records
FROM (
    SELECT
        COALESCE(SUM(d), 0) AS original_rows,
        COALESCE(SUM(s), 0) AS synthetic_rows,
        COALESCE(SUM(CASE WHEN d > 0 THEN s END), 0) AS n_records
    FROM cells
) AS counted
WHERE original_rows = 0 OR synthetic_rows = 0 OR n_records > {{ rows }}
{%- endtest %}

{# The columns of the synthetic table and those of the original. #}
{% macro columns_of_both(model, original, names, argument) -%}
{{ return([sqlaudit.columns_named(sqlaudit.columns_of(model), names, argument), sqlaudit.columns_named(sqlaudit.columns_of(original), names, argument)]) }}
{%- endmacro %}

{# The rows of the original (d) and of the synthetic table (s) with each combination of values; `columns` of model and original. #}
{% macro synthetic_cells(model, original, columns) -%}
stacked AS (
{%- for relation in (original, model) %}
    SELECT {% for column in columns[1 - loop.index0] %}{{ column }} AS c{{ loop.index }}, {% endfor %}{{ loop.index0 }} AS side
    FROM {{ relation }}
    {{- "\n    UNION ALL" if not loop.last }}
{%- endfor %}

),
cells AS (
    SELECT
        {% for _ in columns[0] %}c{{ loop.index }}, {% endfor %}COUNT(CASE WHEN side = 0 THEN 1 END) AS d,
        COUNT(CASE WHEN side = 1 THEN 1 END) AS s
    FROM stacked
    GROUP BY {% for _ in columns[0] %}c{{ loop.index }}{{ ', ' if not loop.last }}{% endfor %}

)
{%- endmacro %}

{# One row of counts where more than a share of the original's rows is told, or where nothing can be said. #}
{% macro synthetic_failing(source, told, limit, columns, unread='0') -%}
{%- set wide = sqlaudit.type_of_products() -%}
SELECT original_rows, synthetic_rows, n_records
FROM (
    SELECT
        COALESCE(SUM(d), 0) AS original_rows,
        COALESCE(SUM(s), 0) AS synthetic_rows,
        COALESCE(SUM({{ told }}), 0) AS n_records
    FROM {{ source }}
) AS counted
WHERE original_rows = 0
    OR synthetic_rows = 0
    OR CAST(n_records AS {{ wide }}) * {{ limit.denominator }} > CAST(original_rows AS {{ wide }}) * {{ limit.numerator }}
    OR {{ unread }} > 0
{%- for place in range(1, columns + 1) %}
    OR EXISTS (
        SELECT 1
        FROM (
            SELECT MAX(CASE WHEN lowest < highest THEN 1 ELSE 0 END) AS shared, MIN(lowest) AS first_side, MAX(highest) AS last_side
            FROM (SELECT MIN(side) AS lowest, MAX(side) AS highest FROM stacked WHERE c{{ place }} IS NOT NULL GROUP BY c{{ place }}) AS of_values
        ) AS of_column
        WHERE shared = 0 AND first_side < last_side
    )
{%- endfor %}
{%- endmacro %}
