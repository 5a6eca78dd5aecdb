{# The rows a profile looks at, under short names (c0, c1, …), all of them or a sample: `share` draws every row with that
   probability, `first` takes the first rows that the database returns. Lists, structures and JSON are read as text, by
   which every engine can group. With `tests` every spelling is judged, also where a collation takes some for equal. #}
{% macro target(source, columns, share, first) %}
target AS (
    SELECT
    {% for column in columns %}
        {% if column.nested or tests is defined and column.text %}CAST({{ column.sql }} AS VARCHAR){% else %}{{ column.sql }}{% endif %}
        {{ {"duckdb": 'COLLATE "binary"', "postgres": 'COLLATE "C"'}.get(dialect, "") if tests is defined and column.text }} AS c{{ loop.index0 }}{{ "," if not loop.last }}
    {% endfor %}
    FROM {{ source }}
    {% if share is not none %}
    WHERE RANDOM() < {{ share }}
    {% endif %}
    {% if first is not none %}
    LIMIT {{ first }}
    {% endif %}
)
{%- endmacro %}

{# Every different value of every column, with its number of rows: one scan, one grouping a column. Those of `few` rows are
   sorted in DuckDB, which otherwise prepares what is made of them once a column, with all patterns. Those of a whole table
   may be as many as its cells. On Spark the first rows are in one partition. Unfolded, they stay there, while each grouping
   set would be sent to the executors again, and so would all that is made of them. #}
{% macro value_groups(columns) %}
value_groups AS {{ "MATERIALIZED " if first is not none and dialect != "duckdb" }}(
    {% if first is not none and dialect == "spark" %}
    SELECT {% for column in columns %}c{{ loop.index0 }}, {% endfor %}column_number, COUNT(*) AS n
    FROM (
        SELECT
        {% for column in columns %}
            CASE WHEN column_number = {{ loop.index0 }} THEN c{{ loop.index0 }} END AS c{{ loop.index0 }},
        {% endfor %}
            column_number
        FROM (
            SELECT target.*, UNNEST([{{ range(columns | length) | join(", ") }}]) AS column_number
            FROM target
        ) AS unfolded
    ) AS cells
    GROUP BY {% for column in columns %}c{{ loop.index0 }}, {% endfor %}column_number
    {% else %}
    SELECT
    {% for column in columns %}
        c{{ loop.index0 }},
    {% endfor %}
        CASE{% for column in columns %} WHEN GROUPING(c{{ loop.index0 }}) = 0 THEN {{ loop.index0 }}{% endfor %} END AS column_number,
        COUNT(*) AS n
    FROM target
    GROUP BY GROUPING SETS ({% for column in columns %}(c{{ loop.index0 }}){{ ", " if not loop.last }}{% endfor %})
    {{ "ORDER BY column_number" if few is true and dialect == "duckdb" }}
    {% endif %}
)
{%- endmacro %}

{# An expression over the column that a group belongs to, `?`, for the columns that are marked so; else NULL. #}
{% macro by_column(columns, mark, expression, type) -%}
{% if columns | selectattr(mark) | list -%}
CASE column_number{% for column in columns %}{% if column[mark] %} WHEN {{ loop.index0 }} THEN {{ expression | replace("?", "c" ~ loop.index0) }}{% endif %}{% endfor %} END
{%- else -%}
CAST(NULL AS {{ type }})
{%- endif %}
{%- endmacro %}

{# Whether a text has a shape. Brackets stand for backslashes, so that every dialect reads the same pattern. #}
{% macro has(pattern) -%}
REGEXP_MATCHES(spelling, '{{ pattern }}')
{%- endmacro %}

{# Whether a text has a digit: ten searches for a byte take a sixth of the time of a pattern. #}
{% macro has_digit() -%}
({% for digit in range(10) %}spelling LIKE '%{{ digit }}%'{{ " OR " if not loop.last }}{% endfor %})
{%- endmacro %}

{% macro every_blank_folded() %}LOWER(TRIM(REGEXP_REPLACE(spelling, '[[:space:]]+', ' ', 'g'))){% endmacro %}

{# A text without capitals, blanks around it and more than one blank in a row. Most texts have no such blanks. Only in DuckDB
   that is cheaper to find out, and `[[:space:]]` is the same on every machine. #}
{% macro folded() -%}
{% if dialect == "duckdb" -%}
CASE
    WHEN spelling LIKE '%  %'{% for code in range(9, 14) %} OR CONTAINS(spelling, CHR({{ code }})){% endfor %} THEN {{ every_blank_folded() }}
    WHEN {{ has("^[^!-~]") }} OR {{ has("[^!-~]$") }} THEN LOWER(TRIM(spelling))
    ELSE LOWER(spelling)
END
{%- else -%}
{{ every_blank_folded() }}
{%- endif %}
{%- endmacro %}

{# Whether a text stands for a missing value. Only texts of at most seven characters that are no blanks are folded. #}
{% macro is_missing() -%}
CASE WHEN {{ has("^[^!-~]*([!-~][^!-~]*){0,7}$") }} THEN {{ every_blank_folded() }} IN ('', '?', '-', '--', '.', 'na', 'n/a', 'nan', 'null', 'nil', 'none', 'missing', 'unknown') ELSE FALSE END
{%- endmacro %}

{# Whether a text is a sentence, not a list. From 43 characters on it has no shape that is tried before, but those of
   dates and coordinates: the others have fewer blanks or characters. #}
{% macro is_sentence(characters) -%}
characters >= {{ characters }} AND spelling LIKE '% % % % % %' AND SUBSTR(spelling, 1, 1) NOT IN ('[', '{')
{%- endmacro %}

{% macro is_date() -%}
({{ has("^[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}([T ].*)?$") }} OR {{ has("^[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2})([T ].*)?$") }})
{%- endmacro %}

{# A word that begins with a large letter: Latin, Greek or Cyrillic, by code point, so that no locale matters. #}
{% macro capitalised() %}[A-ZÀ-ÞĀ-ɏΑ-ΩЀ-Я][A-Za-zÀ-ɏΑ-ώЀ-ӿ''’-]+[.,]?{% endmacro %}

{# Whether a number has no fraction; infinity and NaN count as such. In Spark FLOOR of a DOUBLE has to fit a BIGINT. #}
{% macro is_whole() -%}
{% if dialect == "spark" %}? % 1 = 0 OR ? - ? <> 0{% else %}? = FLOOR(?){% endif %}
{%- endmacro %}

{# Parts of patterns: an address of a device, a social security number of the United States in its ranges, an IBAN of a
   country that has them. #}
{% macro ip_address() %}((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.]){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9]){% endmacro %}

{% macro social_security(between="-") -%}
([1-57][0-9]{2}|8[0-9]{2}|0[1-9][0-9]|00[1-9]|6[0-57-9][0-9]|66[0-57-9]){{ between }}(0[1-9]|[1-9][0-9]){{ between }}([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])
{%- endmacro %}

{# A latitude and a longitude, one of them of two digits and more: so are no limits of a confidence interval. #}
{% macro coordinates() -%}
^[(]?[NSns]? ?[+-]?([0-9]{2}[.][0-9]{3,}°? ?[NSns]?[,;/ ]+[EWOewo]? ?[+-]?[0-9]{1,3}|[0-9][.][0-9]{3,}°? ?[NSns]?[,;/ ]+[EWOewo]? ?[+-]?[0-9]{2,3})[.][0-9]{3,}°? ?[EWOewo]?[)]?$|^(POINT|point) ?[(][+-]?[0-9]+[.][0-9]+ [+-]?[0-9]+[.][0-9]+[)]$|^[0-9]{1,2}°.*[NS][,;/ ]+[0-9]{1,3}°.*[EWO]$
{%- endmacro %}

{% macro iban() -%}
(A[DELTZ]|B[AEGHRY]|C[HRYZ]|D[EKO]|E[EGS]|F[IOR]|G[BEILRT]|H[RU]|I[ELQST]|JO|K[WZ]|L[BCITUVY]|M[CDEKRTU]|N[LO]|P[KLST]|QA|R[OS]|S[ACEIKMV]|T[LNR]|UA|V[AG]|XK)[0-9]{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,3})?
{%- endmacro %}

{# A pattern with no further letter or digit beside it. #}
{% macro alone(pattern) %}(^|[^A-Za-z0-9.-])({{ pattern }})[.]?($|[^A-Za-z0-9.-]){% endmacro %}
