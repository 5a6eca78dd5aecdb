{# What the arguments of tests mean. #}

{# A limit as a fraction in lowest terms, read as a decimal (0.2, 20%, 1/5) and never as a float; `low` and `high` are the
   ends of the band around it in which floating point does not decide. #}
{% macro exact(value, test, name) -%}
{%- do sqlaudit.refuse_missing(value, test, name) -%}
{%- set text = (value | string).strip() -%}
{%- if not modules.re.match('^[0-9]+([.][0-9]*)?([eE][+-]?[0-9]+)?%?$|^[0-9]+/0*[1-9][0-9]*$|^[.][0-9]+%?$', text) -%}
    {{ exceptions.raise_compiler_error("sqlaudit: a limit is a number such as 5, 0.2, 20% or 1/3, not " ~ text) }}
{%- endif -%}
{%- if '/' in text -%}
    {%- set numerator = text.split('/')[0] | int -%}
    {%- set denominator = text.split('/')[1] | int -%}
{%- else -%}
    {%- set parts = text.replace('%', '').lower().split('e') -%}
    {%- set exponent = (parts[1] | int if parts | length > 1 else 0) - (2 if '%' in text else 0) -%}
    {%- set decimals = parts[0].split('.')[1] if '.' in parts[0] else '' -%}
    {%- set shift = exponent - decimals | length -%}
    {%- set numerator = (parts[0].replace('.', '') | int) * 10 ** [shift, 0] | max -%}
    {%- set denominator = 10 ** [-shift, 0] | max -%}
{%- endif -%}
{%- set found = sqlaudit.in_lowest_terms(numerator, denominator) -%}
{%- do sqlaudit.refuse_beyond(found.numerator, found.denominator, value, test, name) -%}
{%- set limit = found.numerator / found.denominator -%}
{%- set width = 1e-9 * [1.0, limit] | max -%}
{%- do found.update({'low': limit - width, 'high': limit + width}) -%}
{{ return(found) }}
{%- endmacro %}

{% macro in_lowest_terms(numerator, denominator) -%}
{%- set state = namespace(a=numerator, b=denominator) -%}
{%- for _ in range(400) if state.b -%}
    {%- set rest = state.a % state.b if state.b else 0 -%}
    {%- set state.a = state.b if state.b else state.a -%}
    {%- set state.b = rest -%}
{%- endfor -%}
{{ return({'numerator': numerator // state.a, 'denominator': denominator // state.a}) }}
{%- endmacro %}

{# A limit that is not there, or lies where a model has none: `bounds_of` has them from the registry. #}
{% macro refuse_missing(value, test, name) -%}
{%- if value is undefined or value is none or not (value | string).strip() -%}
    {{ exceptions.raise_compiler_error("sqlaudit: " ~ name ~ " is missing; " ~ test ~ " needs the " ~ sqlaudit.bounds_of(test)[name].help) }}
{%- endif -%}
{%- endmacro %}
{% macro refuse_beyond(numerator, denominator, value, test, name) -%}
{%- set bounds = sqlaudit.bounds_of(test)[name] -%}
{%- if bounds.least is not none and numerator < bounds.least * denominator -%}
    {{ exceptions.raise_compiler_error("sqlaudit: " ~ name ~ " is at least " ~ bounds.least ~ ", not " ~ value) }}
{%- elif bounds.most is not none and numerator > bounds.most * denominator -%}
    {{ exceptions.raise_compiler_error("sqlaudit: " ~ name ~ " is at most " ~ bounds.most ~ ", not " ~ value) }}
{%- endif -%}
{%- endmacro %}

{# Disclosure of at least c is a ratio of at most (1 - c)/c. #}
{% macro ratio_limit(c) -%}
{%- set given = sqlaudit.exact(c, 'c_k_safety', 'c') -%}
{%- if given.numerator == 0 -%}
    {{ exceptions.raise_compiler_error("sqlaudit: c is a probability above 0, not " ~ c) }}
{%- endif -%}
{%- set found = sqlaudit.in_lowest_terms(given.denominator - given.numerator, given.numerator) -%}
{%- set limit = found.numerator / found.denominator -%}
{%- do found.update({'low': limit * (1 - 1e-12), 'high': limit * (1 + 1e-12)}) -%}
{{ return(found) }}
{%- endmacro %}

{# A limit on counts: a whole number. #}
{% macro whole(value, test, name) -%}
{%- do sqlaudit.refuse_missing(value, test, name) -%}
{%- if not modules.re.match('^[0-9]+$', (value | string).strip()) -%}
    {{ exceptions.raise_compiler_error("sqlaudit: " ~ name ~ " is a whole number such as 5, not " ~ value) }}
{%- endif -%}
{%- do sqlaudit.refuse_beyond(value | int, 1, value, test, name) -%}
{{ return(value | int) }}
{%- endmacro %}

{# Columns of another relation are named in the order of the model's. #}
{% macro refuse_other_length(quasi_identifiers, others) -%}
{%- if others | length != quasi_identifiers | length -%}
    {{ exceptions.raise_compiler_error("sqlaudit: " ~ quasi_identifiers | length ~ " quasi-identifiers are not compared with " ~ others | length ~ " columns; name as many, in the same order") }}
{%- endif -%}
{%- endmacro %}

{# The sensitive column: the one that is named, or the one that the test stands under. #}
{% macro sensitive_column(sensitive, column_name) -%}
{%- if sensitive is none and column_name is none -%}
    {{ exceptions.raise_compiler_error("sqlaudit: name the sensitive column (sensitive), or put the test under it") }}
{%- endif -%}
{{ return(sensitive if sensitive is not none else column_name) }}
{%- endmacro %}

{# Whether a row without a quasi-identifier is a class of its own. #}
{% macro reads_nulls_apart(nulls) -%}
{%- if nulls not in ['equal', 'distinct'] -%}
    {{ exceptions.raise_compiler_error("sqlaudit: nulls is equal or distinct, not " ~ nulls) }}
{%- endif -%}
{{ return(nulls == 'distinct') }}
{%- endmacro %}

{# The key of a failing class, for who has asked to see it, and what a statement calls its columns. #}
{% macro shown_key(quasi_identifiers, show_values) -%}
{%- set shown = [] -%}
{%- for name in sqlaudit.shown_names(quasi_identifiers, show_values) -%}
    {%- do shown.append('q' ~ loop.index ~ ' AS ' ~ name ~ ', ') -%}
{%- endfor -%}
{{ return(shown | join('')) }}
{%- endmacro %}
{% macro shown_names(quasi_identifiers, show_values) -%}
{%- set names = [] -%}
{%- for name in quasi_identifiers if show_values -%}
    {%- do names.append(name if name != sqlaudit.without_quotes(name) else 'q' ~ loop.index) -%}
{%- endfor -%}
{{ return(names) }}
{%- endmacro %}

{# Text has no order that everybody agrees on: numbers, dates and times have one. Of a column of an ephemeral model only the
   statement itself sees the type, and fails. #}
{% macro refuse_unordered(columns, column, named) -%}
{%- if columns and columns.types -%}
    {%- set bare = sqlaudit.without_quotes(column) -%}
    {%- set type = columns.types[bare] if bare != column and bare in columns.types else (adapter.get_column_schema_from_query('SELECT ' ~ column ~ ' AS s FROM ' ~ columns.tested) | first).dtype -%}
    {%- if not modules.re.match(sqlaudit.ordered_types(), type | lower) -%}
        {{ exceptions.raise_compiler_error("sqlaudit: " ~ named ~ " is " ~ ('text' if modules.re.search('char|text|string', type | lower) else 'of type ' ~ type) ~ " and has no order of its own; take t_closeness") }}
    {%- endif -%}
{%- endif -%}
{%- endmacro %}
{% macro rows_without_order(columns) -%}
{{ return('0' if not columns or columns.types is not none else '(SELECT COUNT(*) FROM target WHERE ' ~ adapter.dispatch('is_unordered', 'sqlaudit')('s') ~ ')') }}
{%- endmacro %}
{% macro duckdb__is_unordered(value) %}{{ return("NOT REGEXP_MATCHES(LOWER(TYPEOF(" ~ value ~ ")), '" ~ sqlaudit.ordered_types() ~ "')") }}{% endmacro %}
{% macro postgres__is_unordered(value) %}{{ return("LOWER(CAST(PG_TYPEOF(" ~ value ~ ") AS TEXT)) !~ '" ~ sqlaudit.ordered_types() ~ "'") }}{% endmacro %}
{% macro default__is_unordered(value) -%}
    {{ exceptions.raise_compiler_error("sqlaudit: nothing tells the type of a column of an ephemeral model here, so that t_closeness_ordered could be of text; make the model a view") }}
{%- endmacro %}
{% macro ordered_types() -%}
{{ return('^(nullable[(])?(bool(ean)?|u?(tiny|small|medium|big|huge|long)?int(eger)?[0-9]*|short|byte|long|number|numeric|(big)?(numeric|decimal)[0-9]*|float[0-9]*|real|double|datetime(64|2|offset|tz|_ntz)?|date(32)?|timestamp[a-z_]*|time(tz)?)( (precision|unsigned|with|without) ?[a-z ]*)?([(][0-9, ]+[)])?( (precision|unsigned|with|without) ?[a-z ]*)?[)]?$') }}
{%- endmacro %}

{# Up to three pieces of knowledge are written out. #}
{% macro refuse_knowledge(k) -%}
{%- if k | string not in ['0', '1', '2', '3'] -%}
    {{ exceptions.raise_compiler_error("sqlaudit: maximum disclosure is written out for k of 0 to 3, not " ~ k ~ "; `sqlaudit audit` takes more") }}
{%- endif -%}
{%- endmacro %}
