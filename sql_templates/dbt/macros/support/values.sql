{# What is one value: persons, and sensitive values, that differ only in case, blanks, width or characters without a picture are
   one to a reader. Where no one says what they are (`values`: fold = one, exact = several), a test of them fails. #}

{# A column as its values count. A missing sensitive value is an empty one. #}
{% macro read(column, values, missing=false) -%}
{%- if values not in [none, 'fold', 'exact'] -%}
    {{ exceptions.raise_compiler_error("sqlaudit: values is fold or exact, not " ~ values) }}
{%- endif -%}
{%- if column is none or values != 'fold' -%}
    {{ return(column) }}
{%- endif -%}
{{ return(('NULLIF(' ~ sqlaudit.folded(column) ~ ", '')") if missing else sqlaudit.folded(column)) }}
{%- endmacro %}

{# How many values of a column of a relation rule a test out; `written` is the column of the model `tested` that it is made of.
   Values of which no one said what they are: those of several spellings; others: those that this warehouse cannot fold. #}
{% macro unread(relation, column, values, tested, written, listed=none) -%}
{%- if values == 'exact' or sqlaudit.holds_no_text(listed, written) -%}
    {{ return('0') }}
{%- elif values == 'fold' -%}
    {{ return('((SELECT COUNT(*) FROM ' ~ relation ~ ' WHERE ' ~ sqlaudit.unsure(column) ~ ' > 0) + (SELECT COUNT(*) FROM ' ~ tested ~ ' WHERE ' ~ sqlaudit.nested(written) ~ ' > 0))') }}
{%- endif -%}
{%- set spelling = sqlaudit.folded(column) if column == 'e' else 'NULLIF(' ~ sqlaudit.folded(column) ~ ", '')" -%}
{{ return(sqlaudit.spelled_in_several_ways(relation, column, sqlaudit.letters_of(column), spelling, sqlaudit.nested(column), sqlaudit.unsure('spelling'))) }}
{%- endmacro %}

{# How many sensitive values rule a test out: those that are equal to the database and written in several ways, too. Those
   that have an order are no texts, and never folded. #}
{% macro unread_values(values, tested, written, listed, ordered=false) -%}
{%- set letters = sqlaudit.letters_of('s') if not sqlaudit.holds_no_text(listed, written) else '' -%}
{%- set equal = '(SELECT COUNT(*) FROM (SELECT s FROM target GROUP BY s HAVING COUNT(DISTINCT ' ~ letters ~ ') > 1) AS found)' if letters else '0' -%}
{{ return('(' ~ equal ~ ' + ' ~ ('0' if ordered and values == 'fold' else sqlaudit.unread('target', 's', values, tested, written, listed)) ~ ')') }}
{%- endmacro %}
