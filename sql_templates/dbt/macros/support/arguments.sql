{# What the arguments of tests mean. #}

{# A limit as a fraction in lowest terms, read as a decimal (0.2, 20%, 1/5) and never as a float; `low` and `high` are the
   ends of the band around it in which floating point does not decide. #}
{% macro exact(value) -%}
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

{# Disclosure of at least c is a ratio of at most (1 - c)/c. #}
{% macro ratio_limit(c) -%}
{%- set given = sqlaudit.exact(c) -%}
{%- if given.numerator == 0 or given.numerator > given.denominator -%}
    {{ exceptions.raise_compiler_error("sqlaudit: c is a probability above 0 and at most 1, not " ~ c) }}
{%- endif -%}
{%- set found = sqlaudit.in_lowest_terms(given.denominator - given.numerator, given.numerator) -%}
{%- set limit = found.numerator / found.denominator -%}
{%- do found.update({'low': limit * (1 - 1e-12), 'high': limit * (1 + 1e-12)}) -%}
{{ return(found) }}
{%- endmacro %}

{# A limit on counts: a whole number from 1 on. #}
{% macro whole(value, name) -%}
{%- if not modules.re.match('^[0-9]*[1-9][0-9]*$', (value | string).strip()) -%}
    {{ exceptions.raise_compiler_error("sqlaudit: " ~ name ~ " is a whole number such as 5, not " ~ value) }}
{%- endif -%}
{{ return(value | int) }}
{%- endmacro %}

{# Quasi-identifiers are a list: a text would be read letter by letter. #}
{% macro refuse_no_list(quasi_identifiers) -%}
{%- if quasi_identifiers is string or quasi_identifiers is mapping or not quasi_identifiers -%}
    {{ exceptions.raise_compiler_error("sqlaudit: quasi_identifiers is a list of columns such as [age, sex], not " ~ quasi_identifiers) }}
{%- endif -%}
{%- endmacro %}

{# Columns of another relation are named in the order of the model's. #}
{% macro refuse_other_length(quasi_identifiers, others) -%}
{%- do sqlaudit.refuse_no_list(others) -%}
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

{# The key of a failing class, for who has asked to see it. #}
{% macro shown_key(quasi_identifiers, show_values) -%}
{%- set shown = [] -%}
{%- if show_values -%}
    {%- for name in quasi_identifiers -%}
        {%- set is_plain = modules.re.match('^[A-Za-z_][A-Za-z0-9_]*$', name) -%}
        {%- do shown.append('q' ~ loop.index ~ (' AS ' ~ name if is_plain else '') ~ ', ') -%}
    {%- endfor -%}
{%- endif -%}
{{ return(shown | join('')) }}
{%- endmacro %}

{# What a statement calls the columns of that key. #}
{% macro shown_names(quasi_identifiers, show_values) -%}
{%- set names = [] -%}
{%- for name in quasi_identifiers if show_values -%}
    {%- do names.append(name if modules.re.match('^[A-Za-z_][A-Za-z0-9_]*$', name) else 'q' ~ loop.index) -%}
{%- endfor -%}
{{ return(names) }}
{%- endmacro %}

{# Text has no order that everybody agrees on. #}
{% macro refuse_text(tested, sensitive) -%}
{%- set relation = sqlaudit.tested_relation(tested) if execute else none -%}
{%- for column in (adapter.get_columns_in_relation(relation) if relation else []) if column.name | lower == sensitive | lower and column.is_string() -%}
    {{ exceptions.raise_compiler_error("sqlaudit: " ~ sensitive ~ " is text and has no order of its own; take t_closeness") }}
{%- endfor -%}
{%- endmacro %}

{# The relation that a test is about; none when it has no columns in the warehouse (an ephemeral model). With `where`, dbt
   hands over a subquery, and the relation is that of the node which the test was written under. #}
{% macro tested_relation(tested) -%}
{%- if tested is not string -%}
    {{ return(none if tested.is_cte else tested) }}
{%- endif -%}
{%- for name in model.depends_on.nodes if name in graph.nodes or name in graph.sources -%}
    {%- set node = graph.nodes.get(name) or graph.sources.get(name) -%}
    {{ return(adapter.get_relation(database=node.database, schema=node.schema, identifier=node.alias or node.identifier)) }}
{%- endfor -%}
{{ return(none) }}
{%- endmacro %}

{# Up to three pieces of knowledge are written out. #}
{% macro refuse_knowledge(k) -%}
{%- if k | string not in ['0', '1', '2', '3'] -%}
    {{ exceptions.raise_compiler_error("sqlaudit: maximum disclosure is written out for k of 0 to 3, not " ~ k ~ "; `sqlaudit audit` takes more") }}
{%- endif -%}
{%- endmacro %}
