{# One check as one statement with one row: figures and verdict of all classes of a table. `levels` are (name, aggregate);
   `failing` and `doubtful` are predicates of a class, `table_fails` and `table_doubtful` of the whole table; `unusable`
   are counts of what rules the check out; `spellings` are of columns whose values may be one to a reader, each the
   arguments of its macro; `unfolded` are (relation, number that is 1 for what was not folded). `letters` tells values of
   `s` apart that a collation takes for equal, none = no collation does. `returns` is what of the row is returned (`_answers.sql`), empty = all. #}
{% import "gates/standalone/_answers.sql" as answers %}
{% import "classes/_rows.sql" as rows %}
{% import "gates/standalone/_standalone.sql" as pieces with context %}
{% import "gates/standalone/_written_out.sql" as relation with context %}
{% set unusable = unusable + ([pieces.written_in_several_ways(letters)] if letters and by_value else []) %}
{% set ruled = namespace(out=unusable) %}
{% for one in spellings %}
{% set ruled.out = ruled.out + [relation.spelled_in_several_ways(**one)] %}
{% endfor %}
{% for unread, unsure in unfolded %}
{% set ruled.out = ruled.out + [pieces.count_where(unread, unsure ~ " > 0")] %}
{% endfor %}
{% set unusable = ruled.out %}
{% set columns = rows.target_columns(keys, sensitive, entity, solo, "ORDER BY " ~ keys[0]) %}
{% set key = rows.key_columns(keys, solo) %}
{% if all_rows %}
{% import "gates/standalone/_standalone_persons.sql" as persons %}
{% set person_columns = rows.target_columns(all_rows["keys"], all_rows.sensitive, all_rows.entity, false) %}
WITH {{ persons.all_rows(all_rows.source, person_columns, rows.key_columns(all_rows["keys"], false), all_rows["keys"] | length, all_rows.solo) }},
{% endif %}
{% if population %}
{% set population_columns = rows.target_columns(population_keys, none, population_entity, false) %}
{{ "WITH " if not all_rows }}{{ relation.population_sizes(source, columns, population, population_columns, key, entity, population_entity) }}
{%- elif by_value %}
{{ "WITH " if not all_rows }}{{ relation.class_facts(source, columns, key, entity, pieces.listed(facts, more_facts), uses) }}
{%- else %}
{{ "WITH " if not all_rows }}{{ relation.class_sizes(source, columns, key, entity) }}
{%- endif %}
{% if atoms %},
{{ relation.disclosure_relation(key, atoms, partitions) }}
{%- endif %},
{% if required %}
{% if failing %}
tested AS (
    SELECT
        *,
        CASE WHEN {{ failing }} THEN 1 ELSE 0 END AS falls_short
    {% if doubtful %}
        , CASE WHEN {{ doubtful }} THEN 1 ELSE 0 END AS is_near_limit
    {% endif %}
    FROM {{ "disclosed" if atoms else "facts" }}
),
{% endif %}
{% if unusable %}
ruled_out AS (
    SELECT {{ unusable | join(" + ") }} AS unusable_rows
),
{% endif %}
{% endif %}
judged AS (
    SELECT
        COUNT(*) AS classes,
        CAST(COALESCE(SUM(row_count), 0) AS BIGINT) AS table_rows
    {% for name, aggregate in levels %}
        , {{ aggregate }} AS level_{{ name }}
    {% endfor %}
    {% if required %}
        , {{ "CAST(COALESCE(SUM(falls_short), 0) AS BIGINT)" if failing else "CAST(NULL AS BIGINT)" }} AS failing_classes
        , {{ "CAST(COALESCE(SUM(falls_short * row_count), 0) AS BIGINT)" if failing else "CAST(NULL AS BIGINT)" }} AS failing_rows
        , {{ "CAST(COALESCE(SUM(is_near_limit), 0) AS BIGINT)" if doubtful else "0" }} AS undecided_classes
        , CASE WHEN {{ table_fails }} THEN 'fail'{{ " WHEN " ~ table_doubtful ~ " THEN 'undecided'" if table_doubtful }} ELSE 'pass' END AS finding
    {% endif %}
    FROM {{ "tested" if required and failing else "disclosed" if atoms else "facts" }}
    {% if where %}
    WHERE {{ where }}
    {% endif %}
)
{{- answers.opening(returns) }}
{% if required %}
SELECT
    classes, table_rows, failing_classes, failing_rows, undecided_classes,
    {{ "unusable_rows" if unusable else "0" }} AS unusable,
    {% for name, aggregate in levels %}
    level_{{ name }},
    {% endfor %}
    CASE
        WHEN table_rows = 0{{ " OR unusable_rows > 0" if unusable }} THEN 'undecided'
        WHEN finding = 'pass' AND undecided_classes > 0 THEN 'undecided'
        ELSE finding
    END AS verdict
FROM judged
{% if unusable %}
CROSS JOIN ruled_out
{% endif %}
{% else %}
SELECT classes, table_rows{% for name, aggregate in levels %}, level_{{ name }}{% endfor %}

FROM judged
{% endif %}
{{ answers.closing(returns, test_id, "level_" ~ levels[0][0], "failing_rows", row_columns) }}
