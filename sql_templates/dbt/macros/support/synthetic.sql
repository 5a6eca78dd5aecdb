{# A synthetic table beside the table that it was made from: who is unique in both, whose sensitive value is disclosed, and
   which rows are copies. A test that fails has one row of counts. It fails for an empty table, too, and where a column has no
   value that is in both tables, or hardly any: what is missing or spelled in another way hides all that is disclosed. #}
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
WHERE original_rows = 0
    OR synthetic_rows = 0
    OR n_records > {{ rows }}
{{- sqlaudit.synthetic_unmatched(columns | length, true) }}
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
{{- sqlaudit.synthetic_unmatched(columns) }}
{%- endmacro %}

{# A condition for each column: no value is in both tables, or so few synthetic rows have a value of the original that equal values
   measure nothing: fewer than one in twenty of those that have a value there, or fewer than half of those of an independent
   draw, where twelve are expected. NULL is no value. `new`: or nearly every row of both tables has a value of its own, as numbers of
   rows are, which hide copies. #}
{% macro synthetic_unmatched(columns, new=false) -%}
{%- set wide = sqlaudit.type_of_products() -%}
{%- for place in range(1, columns + 1) %}
    OR EXISTS (
        SELECT 1
        FROM (
            SELECT
                CAST(SUM(d) AS {{ wide }}) AS all_d,
                CAST(SUM(s) AS {{ wide }}) AS all_s,
                CAST(SUM(CASE WHEN v IS NOT NULL THEN d ELSE 0 END) AS {{ wide }}) AS own,
                CAST(SUM(CASE WHEN v IS NOT NULL THEN s ELSE 0 END) AS {{ wide }}) AS made,
                {% if new %}
                CAST(COUNT(CASE WHEN v IS NOT NULL AND d > 0 THEN 1 END) AS {{ wide }}) AS own_values,
                CAST(COUNT(CASE WHEN v IS NOT NULL AND s > 0 THEN 1 END) AS {{ wide }}) AS made_values,
                {% endif %}
                CAST(SUM(CASE WHEN v IS NOT NULL AND d = 1 THEN 1 ELSE 0 END) AS {{ wide }}) AS once,
                CAST(SUM(CASE WHEN v IS NOT NULL AND d > 0 THEN s ELSE 0 END) AS {{ wide }}) AS shared
            FROM (
                SELECT c{{ place }} AS v, COUNT(CASE WHEN side = 0 THEN 1 END) AS d, COUNT(CASE WHEN side = 1 THEN 1 END) AS s
                FROM stacked
                GROUP BY c{{ place }}
            ) AS of_values
        ) AS of_column
        WHERE (shared = 0 AND own + made > 0)
            OR 20 * shared * all_d < all_s * own
            OR (all_s * (own - once) >= 12 * all_d AND 2 * shared * all_d < all_s * (own - once))
            {{- "\n            OR (own_values > 2 AND made_values > 2 AND 10 * own_values >= 9 * own AND 10 * made_values >= 9 * made)" if new }}
    )
{%- endfor %}
{%- endmacro %}
