{# Which column a test reads. An exact name wins, then the only one that differs in case alone, then an expression over
   columns: the rule of `sqlaudit audit`. What reads no column puts all rows into one class, and is an error. #}

{# The columns of what is tested: what messages call it, the type of each column by its name, and what is tested itself.
   Nothing lists those of an ephemeral model before it runs: `types` is none, and `prefix` makes a name one of its columns.
   So it does for a column called like an alias of a test (q1, e, s): ClickHouse reads the alias of the column before. #}
{% macro columns_of(tested) -%}
{%- if not execute -%}
    {{ return(none) }}
{%- endif -%}
{%- set label = 'the model' if tested is string else tested.identifier.replace('__dbt__cte__', '') -%}
{%- if (tested is string and '__dbt__cte__' in tested) or (tested is not string and tested.is_cte) -%}
    {{ return({'tested': tested, 'label': label, 'types': none, 'prefix': modules.re.split('[ )]', tested | string)[-1] ~ '.'}) }}
{%- endif -%}
{%- set listed = adapter.get_column_schema_from_query('SELECT * FROM ' ~ tested) if tested is string else adapter.get_columns_in_relation(tested) -%}
{%- if not listed and flags.WHICH in ['test', 'build', 'retry'] -%}
    {{ exceptions.raise_compiler_error("sqlaudit: " ~ label ~ " is not in the database, or dbt cannot list its columns; run the model first") }}
{%- endif -%}
{%- set types = {} -%}
{%- for column in listed -%}
    {%- do types.update({column.name: column.dtype}) -%}
{%- endfor -%}
{%- set name = tested if tested is string else tested.include(database=false, schema=false) | string -%}
{%- set name = modules.re.split('[ )]', name)[-1] if name[:1] == '(' else name -%}
{{ return({'tested': tested, 'label': label, 'types': types, 'prefix': name ~ '.' if name and tested is not none else ''}) }}
{%- endmacro %}

{# Each column of a list, as SQL. #}
{% macro columns_named(columns, names, argument) -%}
{%- if names is string or names is mapping or not names -%}
    {{ exceptions.raise_compiler_error("sqlaudit: " ~ argument ~ " is a list of columns such as [age, sex], not " ~ names) }}
{%- endif -%}
{%- set found = [] -%}
{%- for name in names -%}
    {%- do found.append(sqlaudit.column_named(columns, name, argument)) -%}
{%- endfor -%}
{{ return(found) }}
{%- endmacro %}

{# The column of persons as SQL, or none. #}
{% macro entity_named(columns, name) -%}
{{ return(none if name is none else sqlaudit.column_named(columns, name, 'entity')) }}
{%- endmacro %}

{# A column, or an expression over columns, as SQL. #}
{% macro column_named(columns, name, argument) -%}
{%- set text = name | string -%}
{%- set types = columns.types if columns else none -%}
{%- if name is not string and (name is boolean or name is not number or types is mapping and text not in types) -%}
    {{ exceptions.raise_compiler_error("sqlaudit: " ~ argument ~ " takes names of columns, not " ~ name ~ "; write a name that is a number in quotes") }}
{%- endif -%}
{%- if not columns -%}
    {{ return(text) }}
{%- endif -%}
{%- set bare = sqlaudit.without_quotes(text) -%}
{%- if types is none -%}
    {%- if '(' in text -%}
        {{ exceptions.raise_compiler_error("sqlaudit: " ~ argument ~ ": " ~ text ~ " may be an expression, and nothing lists the columns of an ephemeral model that it could read; name a column, or make " ~ columns.label ~ " a view") }}
    {%- endif -%}
    {{ return(columns.prefix ~ (bare if bare == text and modules.re.match('^[^\\W\\d]\\w*$', text) else sqlaudit.quoted(bare))) }}
{%- endif -%}
{%- set same = [text, bare] | select('in', types) | list or sqlaudit.named_alike(types, bare) -%}
{%- if same | length > 1 and same[0] not in [text, bare] -%}
    {{ exceptions.raise_compiler_error("sqlaudit: " ~ argument ~ ": " ~ text ~ " could be " ~ same | join(' and ') ~ "; write it exactly") }}
{%- elif same -%}
    {{ return((columns.prefix if sqlaudit.named_like_alias(same[0]) else '') ~ sqlaudit.quoted(same[0])) }}
{%- elif not types -%}
    {{ return(text) }}
{%- elif bare != text or modules.re.match('^\\w*$', text.strip()) -%}
    {{ exceptions.raise_compiler_error("sqlaudit: " ~ argument ~ ": " ~ columns.label ~ " has no column " ~ bare ~ ". It has: " ~ types | join(', ')) }}
{%- endif -%}
{%- do sqlaudit.refuse_no_expression(columns, text, argument) -%}
{{ return('(' ~ text ~ ')') }}
{%- endmacro %}

{# Whether a name is one that tests give columns. #}
{% macro named_like_alias(name) -%}
{{ return(modules.re.match('(q\\d+|c\\d+|[es]|solo|contributors|cell_value)$', name | lower) is not none) }}
{%- endmacro %}

{# Column names that differ from a name in case alone. #}
{% macro named_alike(types, name) -%}
{%- set found = [] -%}
{%- for column in types if column | lower == name | lower -%}
    {%- do found.append(column) -%}
{%- endfor -%}
{{ return(found) }}
{%- endmacro %}

{# A name in the warehouse's quotes, and without them. #}
{% macro quoted(name) -%}
{%- set mark = adapter.quote('')[-1] -%}
{{ return(adapter.quote(name.replace(mark, mark ~ mark))) }}
{%- endmacro %}
{% macro without_quotes(name) -%}
{%- set marks = adapter.quote('') -%}
{%- set is_quoted = name | length > 2 and name[0] == marks[0] and name[-1] == marks[-1] and marks[-1] not in name[1:-1].replace(marks[-1] ~ marks[-1], '') -%}
{{ return(name[1:-1].replace(marks[-1] ~ marks[-1], marks[-1]) if is_quoted else name) }}
{%- endmacro %}

{# Refuse what is no expression over the columns of one row. It is looked at word by word: a word counts as a column where a
   column of that name could stand, so not as a function, a type, a unit, or a text. One that counts has to be there. #}
{% macro refuse_no_expression(columns, text, argument) -%}
{%- set marks = adapter.quote('') -%}
{%- set name = modules.re.escape(marks[0]) ~ '(?:[^Q]|QQ)+Q'.replace('Q', marks[-1]) -%}
{%- set state = namespace(depth=0, before='', reads=false, fault='') -%}
{%- for token in modules.re.findall(name ~ "|'(?:[^']|'')*'" ~ '|"[^"]*"|[^\\W\\d]\\w*|[\\d.]+|--|/[*]|::|\\s+|.', text) if token.strip() -%}
    {%- set after = loop.nextitem | default('') -%}
    {%- set bare = sqlaudit.without_quotes(token) -%}
    {%- set word = token | lower if modules.re.match('[^\\W\\d]', token) else '' -%}
    {%- set state.depth = state.depth + {'(': 1, '[': 1, ')': -1, ']': -1}.get(token, 0) -%}
    {%- if state.depth < 0 or token in ["'", '"', '`', '$', '#', ';', '--', '/*'] or token[-2:-1] == '\\' -%}
        {%- set state.fault = 'cannot be read as an expression' -%}
    {%- elif token == ',' and state.depth == 0 -%}
        {%- set state.fault = 'is several; name each column on its own, such as [age, sex]' -%}
    {%- elif word in ['select', 'values', 'over'] or word == 'from' and state.before == '(' or after == '(' and word in ['any_value', 'array_agg', 'avg', 'count', 'first', 'last', 'list', 'max', 'median', 'min', 'mode', 'string_agg', 'sum'] -%}
        {%- set state.fault = 'is more than an expression over the columns of one row' -%}
    {%- endif -%}
    {%- if sqlaudit.named_alike(columns.types, bare) and (bare != token or word and after != '(' and after[:1] != "'" and after | lower != 'from' and sqlaudit.may_precede_column(state.before)) -%}
        {%- set state.reads = true -%}
        {%- if adapter.type() == 'clickhouse' and sqlaudit.named_like_alias(bare) -%}
            {%- set state.fault = 'reads ' ~ bare ~ ', which the test calls a column of its own; give the column another name' -%}
        {%- endif -%}
        {%- if word in ['current_catalog', 'current_date', 'current_role', 'current_schema', 'current_time', 'current_timestamp', 'current_user', 'default', 'false', 'localtime', 'localtimestamp', 'null', 'session_user', 'system_user', 'true', 'user'] -%}
            {%- set state.fault = 'may be a column or not; write ' ~ sqlaudit.quoted(bare) -%}
        {%- endif -%}
    {%- elif bare != token and adapter.type() == 'sqlite' -%}
        {%- set state.fault = 'names ' ~ bare ~ ', which is no column' -%}
    {%- endif -%}
    {%- set state.before = token -%}
{%- endfor -%}
{%- if state.fault or state.depth or not state.reads -%}
    {{ exceptions.raise_compiler_error("sqlaudit: " ~ argument ~ ": " ~ text ~ " " ~ (state.fault or ('cannot be read as an expression' if state.depth else 'reads no column of ' ~ columns.label ~ '. It has: ' ~ columns.types | join(', ')))) }}
{%- endif -%}
{%- endmacro %}

{# Whether a column could stand after a word or a sign: after another word only where that is an operator. #}
{% macro may_precede_column(before) -%}
{{ return(before in ['', '.'] or not modules.re.match("[\\w']|::$", before) or before | lower in ['and', 'between', 'by', 'case', 'div', 'else', 'for', 'from', 'ilike', 'in', 'is', 'like', 'mod', 'not', 'or', 'rlike', 'similar', 'then', 'to', 'when', 'xor', 'distinct']) }}
{%- endmacro %}

{# Every column has a role: in the arguments, or in its meta or the model's (`sqlaudit`), as `sqlaudit test --dbt-project` reads
   them. A row for each that has none, as a column that is added is how tables become identifying. #}
{% test all_columns_have_roles(model, quasi_identifiers=[], sensitive=[], identifiers=[], insensitive=[], entity=none) -%}
{%- set listed = sqlaudit.columns_of(model) -%}
{%- set known = [] -%}
{%- for names in [quasi_identifiers, sensitive, identifiers, insensitive, [entity] if entity is not none else []] if names -%}
    {%- do known.extend(sqlaudit.columns_read(listed, sqlaudit.columns_named(listed, names, 'a role'))) -%}
{%- endfor -%}
{%- do known.extend(sqlaudit.columns_read(listed, sqlaudit.columns_with_meta())) -%}
{%- if listed and listed.types is none -%}
    {{ exceptions.raise_compiler_error("sqlaudit: nothing lists the columns of an ephemeral model; make " ~ listed.label ~ " a view") }}
{%- endif -%}
{%- for column in (listed.types if listed else []) if column not in known %}
SELECT {{ dbt.string_literal(dbt.escape_single_quotes(column)) }} AS column_without_role
UNION ALL
{%- endfor %}
SELECT 'none' AS column_without_role FROM {{ model }} WHERE 1 = 0
{%- endtest %}

{# The columns that names and expressions read. #}
{% macro columns_read(columns, texts) -%}
{%- set found = [] -%}
{%- for text in texts if columns and columns.types -%}
    {%- set bare = sqlaudit.without_quotes(text) -%}
    {%- set words = [bare | lower] if bare != text else modules.re.findall('\\w+', text | lower) + [text | lower] -%}
    {%- for column in columns.types if column | lower in words -%}
        {%- do found.append(column) -%}
    {%- endfor -%}
{%- endfor -%}
{{ return(found) }}
{%- endmacro %}

{# The columns that have a role in the meta of what a test is written under. #}
{% macro columns_with_meta() -%}
{%- set found = [] -%}
{%- for name in model.depends_on.nodes if execute and (name in graph.nodes or name in graph.sources) -%}
    {%- set node = graph.nodes.get(name) or graph.sources.get(name) -%}
    {%- set policy = node.meta.get('sqlaudit') or node.config.get('meta', {}).get('sqlaudit') -%}
    {%- for role in ['quasi_identifiers', 'sensitive', 'identifiers', 'insensitive', 'entity'] if policy is mapping and policy.get(role) -%}
        {%- do found.extend([policy[role]] if policy[role] is string else policy[role]) -%}
    {%- endfor -%}
    {%- for column in node.columns.values() if column.get('meta', {}).get('sqlaudit') or column.get('config', {}).get('meta', {}).get('sqlaudit') -%}
        {%- do found.append(sqlaudit.quoted(column.name)) -%}
    {%- endfor -%}
{%- endfor -%}
{{ return(found) }}
{%- endmacro %}
