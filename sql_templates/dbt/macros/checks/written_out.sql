{#- Made by docs/make_dbt.py from classes/_rows.sql and gates/standalone/_written_out.sql and gates/standalone/_standalone_persons.sql: change those, and run it again. -#}
{# From rows to classes: what audits and standalone statements have in common. SQL that every dialect shares; the dbt
   package holds it too, so nothing is imported here. #}

{# The columns of an audit under short names: q1, q2, … the quasi-identifiers, s the sensitive attribute, e the entity.
   `solo` numbers the rows that form a class of their own (NULL read as distinct), in an order where dialects ask for
   one. #}
{% macro target_columns(keys, sensitive, entity, solo, numbering="") -%}
{%- for key in keys %}{{ ",\n        " if not loop.first }}{{ key }} AS q{{ loop.index }}{% endfor %}
{%- if solo and keys %},
        CASE WHEN {% for key in keys %}{{ key }} IS NULL{{ " OR " if not loop.last }}{% endfor %} THEN ROW_NUMBER() OVER ({{ numbering }}) END AS solo
{%- endif %}
{%- if entity is not none %}{{ ",\n        " if keys }}{{ entity }} AS e{% endif %}
{%- if sensitive is not none %}{{ ",\n        " if keys or entity is not none }}{{ sensitive }} AS s{% endif %}
{%- endmacro %}

{# The names of the class key's columns. #}
{% macro key_columns(keys, solo) -%}
{% for key in keys %}q{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}{{ ", solo" if solo and keys }}
{%- endmacro %}

{# Persons with their values and rows: a person with two values is there twice. #}
{% macro members_of(key, source="target") -%}
SELECT {{ key ~ ", " if key }}e, s, COUNT(*) AS row_count
    FROM {{ source }}
    GROUP BY {{ key ~ ", " if key }}e, s
{%- endmacro %}

{# The classes of `target` and of `population` side by side: `members` and `table_rows` of the one, `people` of the other.
   Both are added up in one GROUP BY, in which NULLs are equal. #}
{% macro beside_population(key, entity, population_entity) -%}
both_sides AS (
    SELECT {{ key ~ ", " if key }}{{ "COUNT(DISTINCT e)" if entity is not none else "COUNT(*)" }} AS members, COUNT(*) AS table_rows, 0 AS people
    FROM target
    {{ "GROUP BY " ~ key if key }}
    UNION ALL
    SELECT {{ key ~ ", " if key }}0, 0, {{ "COUNT(DISTINCT e)" if population_entity is not none else "COUNT(*)" }}
    FROM population
    {{ "GROUP BY " ~ key if key }}
),
matched AS (
    SELECT
        {{ key ~ "," if key }}
        CAST(SUM(members) AS {{ sqlaudit.type_of_counts() }}) AS members,
        CAST(SUM(table_rows) AS {{ sqlaudit.type_of_counts() }}) AS table_rows,
        CAST(SUM(people) AS {{ sqlaudit.type_of_counts() }}) AS people
    FROM both_sides
    {{ "GROUP BY " ~ key if key }}
)
{%- endmacro %}

{# Relations of standalone statements: a check in one SELECT that needs nothing known beforehand, no number of values, no
   totals, no relation of a session. The dbt package holds them too, so nothing but `_rows.sql` is imported, and all
   of it is SQL that every dialect shares. Windows add up what belongs together, so that NULLs are equal and nothing is joined on
   keys. A cell is (class, sensitive value): c = its count, n = its class's, t = its value's, total = the table's. #}

{# The sizes of classes: `size` (rows or persons), `row_count`. #}
{% macro class_sizes(source, columns, key, entity) -%}
target AS (
    SELECT
        {{ columns }}
    FROM {{ source }}
),
facts AS (
    SELECT
        {{ key }},
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS n,
        CAST({{ "COUNT(DISTINCT e)" if entity is not none else "COUNT(*)" }} AS {{ sqlaudit.type_of_counts() }}) AS size,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS row_count
    FROM target
    GROUP BY {{ key }}
)
{%- endmacro %}

{# From cells to one row a class, with its size and with `facts`, aggregates over its cells. `uses` holds what of a cell
   these facts need: "values" (how many there are, and each one's place in their order), "positions" (of counts within a
   class), "gaps" (between places, for ordered distances). #}
{% macro class_facts(source, columns, key, entity, facts, uses) -%}
target AS (
    SELECT
        {{ columns }}
    FROM {{ source }}
),
{%- if entity is not none %}
members AS (
    {{ sqlaudit.members_of(key) }}
),
persons AS (
    SELECT
        {{ key }}, e, s, row_count,
        CASE WHEN ROW_NUMBER() OVER (PARTITION BY {{ key }}, e ORDER BY s) = 1 THEN 1 ELSE 0 END AS is_first_in_class,
        CASE WHEN ROW_NUMBER() OVER (PARTITION BY e, s ORDER BY {{ key }}) = 1 THEN 1 ELSE 0 END AS is_first_with_value
    FROM members
),
{%- endif %}
cells AS (
    SELECT
        {{ key }}, s,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS c,
        CAST({{ "SUM(is_first_in_class)" if entity is not none else "COUNT(*)" }} AS {{ sqlaudit.type_of_counts() }}) AS cell_size,
        CAST({{ "SUM(is_first_with_value)" if entity is not none else "COUNT(*)" }} AS {{ sqlaudit.type_of_counts() }}) AS of_table,
        CAST({{ "SUM(row_count)" if entity is not none else "COUNT(*)" }} AS {{ sqlaudit.type_of_counts() }}) AS cell_rows
    FROM {{ "persons" if entity is not none else "target" }}
    GROUP BY {{ key }}, s
),
added AS (
    SELECT
        {{ key }}, s, c, cell_size, cell_rows,
{%- if "values" in uses %}
        CAST(DENSE_RANK() OVER (ORDER BY s) AS {{ sqlaudit.type_of_counts() }}) AS place,
{%- endif %}
{%- if "positions" in uses %}
        ROW_NUMBER() OVER (PARTITION BY {{ key }} ORDER BY c DESC) AS position,
        CAST(SUM(c) OVER (PARTITION BY {{ key }} ORDER BY c DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS {{ sqlaudit.type_of_counts() }}) AS running,
        MAX(c) OVER (PARTITION BY {{ key }}) AS greatest_count,
{%- endif %}
        CAST(SUM(c) OVER (PARTITION BY {{ key }}) AS {{ sqlaudit.type_of_counts() }}) AS n,
        CAST(SUM(of_table) OVER (PARTITION BY s) AS {{ sqlaudit.type_of_counts() }}) AS t,
        CAST(SUM(of_table) OVER () AS {{ sqlaudit.type_of_counts() }}) AS total
    FROM cells
),
{%- if "values" in uses %}
placed AS (
    SELECT added.*, MAX(place) OVER () AS value_count
    FROM added
),
{%- endif %}
{%- if "gaps" in uses %}
{{ sqlaudit.gaps_between_places(key) }}
{%- endif %}
facts AS (
    SELECT
        {{ key }}, n, total,
{%- if "values" in uses %}
        value_count,
{%- endif %}
        CAST(SUM(cell_size) AS {{ sqlaudit.type_of_counts() }}) AS size,
        CAST(SUM(cell_rows) AS {{ sqlaudit.type_of_counts() }}) AS row_count{{ facts }}
    FROM {{ "gapped" if "gaps" in uses else "placed" if "values" in uses else "added" }} AS long
    GROUP BY {{ key }}, n, total{{ ", value_count" if "values" in uses }}
)
{%- endmacro %}

{# The sizes of classes beside those in a population (or reference): `population_size` people. #}
{% macro population_sizes(source, columns, population, population_columns, key, entity, population_entity) -%}
target AS (
    SELECT
        {{ columns }}
    FROM {{ source }}
),
population AS (
    SELECT
        {{ population_columns }}
    FROM {{ population }}
),
{{ sqlaudit.beside_population(key, entity, population_entity) }},
facts AS (
    SELECT {{ key }}, members AS size, table_rows AS row_count, people AS population_size
    FROM matched
)
{%- endmacro %}

{# Every cell with its gap: the sum of |a total - b n| over the places from its own to the next one present (before its
   own, too, for the first cell of a class), where a is the class's and b the table's cumulative count. Places have a type
   that holds NULL in every dialect: after the last row, ClickHouse's LEAD gives 0 of types that do not. #}
{% macro gaps_between_places(key) -%}
places AS (
    SELECT
        place,
        CAST(SUM(value_total) OVER (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS {{ sqlaudit.type_of_counts() }}) AS cumulated
    FROM (
        SELECT place, MAX(t) AS value_total
        FROM placed
        GROUP BY place
    ) AS seen
),
stepped AS (
    SELECT
        placed.*,
        CAST(SUM(c) OVER (PARTITION BY {{ key }} ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS {{ sqlaudit.type_of_counts() }}) AS reached,
        LEAD(place) OVER (PARTITION BY {{ key }} ORDER BY place) AS next_place,
        ROW_NUMBER() OVER (PARTITION BY {{ key }} ORDER BY place) AS step
    FROM placed
),
gapped AS (
    SELECT
        {{ key }}, c, cell_size, cell_rows, n, total, value_count,
        SUM(ABS(CAST(CASE WHEN places.place >= stepped.place THEN reached ELSE 0 END AS {{ sqlaudit.type_of_products() }}) * total - CAST(n AS {{ sqlaudit.type_of_products() }}) * cumulated)) AS gap
    FROM stepped
    CROSS JOIN places
    WHERE (places.place >= stepped.place OR step = 1) AND (next_place IS NULL OR places.place < next_place)
    GROUP BY {{ key }}, c, cell_size, cell_rows, n, total, value_count, stepped.place
),
{%- endmacro %}

{# Maximum disclosure, written out: M(j) of a class is the least product over all ways to put j atoms on its persons. A
   factor is the chance that the person at a place has none of the k most frequent values, given that the persons before
   have none; it is 0 where none is left, so that a class with fewer persons than parts needs no case of its own. #}
{% macro factor(place, k) %}CASE WHEN n - {{ place }} - head_{{ k }} > 0 THEN CAST(n - {{ place }} - head_{{ k }} AS {{ sqlaudit.type_of_floats() }}) / (n - {{ place }}) ELSE 0.0 END{% endmacro %}
{% macro least_product(partitions) %}{{ "LEAST(" if partitions | length > 1 }}{% for parts in partitions %}{% for k in parts %}({{ sqlaudit.factor(loop.index0, k) }}){{ " * " if not loop.last }}{% endfor %}{{ ", " if not loop.last }}{% endfor %}{{ ")" if partitions | length > 1 }}{% endmacro %}

{# Atoms on other classes than the consequent's may as well lie on the same class, since putting two sets of them on one
   class never raises the product: so the least product of each number of atoms over all classes is enough. #}
{% macro disclosure_relation(key, atoms, partitions) -%}
products AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_{{ atoms }} AS head_of_all
{%- for parts in partitions %}
        , {{ sqlaudit.least_product(parts) }} AS product_{{ loop.index }}
{%- endfor %}
    FROM facts
),
weakest AS (
    SELECT
        MAX(n) AS largest_class
{%- for parts in partitions %}
        , MIN(product_{{ loop.index }}) AS weakest_{{ loop.index }}
{%- endfor %}
    FROM products
),
disclosed AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_of_all, largest_class,
        CAST(n AS {{ sqlaudit.type_of_floats() }}) / head_1 * {{ "LEAST(" if atoms > 1 }}
{%- for own in range(1, atoms + 1) %}
            product_{{ own }}{% if own < atoms %} * {{ sqlaudit.weakest_product(partitions[atoms - own - 1]) }}{% endif %}{{ "," if not loop.last }}
{%- endfor %}
        {{ ")" if atoms > 1 }} AS ratio
    FROM products
    CROSS JOIN weakest
)
{%- endmacro %}
{% macro weakest_product(partitions) %}{{ "LEAST(" if partitions | length > 1 }}{% for parts in partitions %}{% for k in parts %}weakest_{{ k }}{{ " * " if not loop.last }}{% endfor %}{{ ", " if not loop.last }}{% endfor %}{{ ")" if partitions | length > 1 }}{% endmacro %}

{# Disclosure of at least c is a ratio of at most (1 - c)/c = numerator/denominator. Two such fractions that differ do so
   by more than 1/(denominators multiplied), so where classes are small a ratio within float error of the limit is it. #}
{% macro told_apart(atoms, limit) %}{% for _ in range(atoms + 1) %}CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {% endfor %}{{ limit.numerator }} < 100000000000{% endmacro %}
{% macro reaches_ratio(atoms, limit, low, high) %}ratio = 0 OR ratio < {{ low }} OR (ratio <= {{ high }} AND {{ sqlaudit.told_apart(atoms, limit) }}){% endmacro %}
{% macro near_ratio(atoms, limit, low, high) %}ratio > 0 AND ratio BETWEEN {{ low }} AND {{ high }} AND NOT ({{ sqlaudit.told_apart(atoms, limit) }}){% endmacro %}

{# Column sets (lists of places in `columns`, from 1 on) with the rows, or persons, that each puts into classes below k.
   has_1, has_2, … say which columns a set has. `letters` are the columns by their letters, or nothing. #}
{% macro column_sets(source, columns, letters, sets, k, entity) -%}
target AS (
    SELECT
        {{ sqlaudit.target_columns(columns + letters, none, entity, false) }}
    FROM {{ source }}
),
counted AS (
{%- for set in sets %}
{%- set key %}{% for place in set %}q{{ place }}{{ ", q" ~ (place + columns | length) if letters }}{{ ", " if not loop.last }}{% endfor %}{% endset %}
    {{ "UNION ALL" if not loop.first }}
    SELECT
{%- for column in columns %}
        {{ 1 if loop.index in set else 0 }} AS has_{{ loop.index }},
{%- endfor %}
        {{ set | length }} AS columns_in_set,
        MIN(members) AS smallest,
{%- if entity is not none %}
        COUNT(DISTINCT e) AS everybody,
        COUNT(DISTINCT CASE WHEN members < {{ k }} THEN e END) AS at_risk
    FROM (
        SELECT e, COUNT(*) OVER (PARTITION BY {{ key }}) AS members
        FROM (SELECT DISTINCT e, {{ key }} FROM target) AS persons
    ) AS classes
{%- else %}
        COALESCE(SUM(members), 0) AS everybody,
        COALESCE(SUM(CASE WHEN members < {{ k }} THEN members ELSE 0 END), 0) AS at_risk
    FROM (
        SELECT COUNT(*) AS members
        FROM target
        GROUP BY {{ key }}
    ) AS classes
{%- endif %}
{%- endfor %}
)
{%- endmacro %}

{# The violating sets of `counted`: more than numerator/denominator of the rows are at risk; and how many of the smaller
   violating sets each contains (none for a minimal set). Rows without a person leave everything in doubt. #}
{% macro violating_sets(columns, numerator, denominator, entity) -%}
violating AS (
    SELECT *
    FROM counted
    WHERE at_risk * {{ denominator }} > everybody * {{ numerator }}
{%- if entity is not none %}
        OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
{%- endif %}
),
compared AS (
    SELECT
{%- for column in columns %}
        larger.has_{{ loop.index }},
{%- endfor %}
        larger.columns_in_set, larger.smallest, larger.everybody, larger.at_risk,
        SUM(CASE WHEN smaller.columns_in_set < larger.columns_in_set{% for column in columns %} AND smaller.has_{{ loop.index }} <= larger.has_{{ loop.index }}{% endfor %} THEN 1 ELSE 0 END) AS violating_subsets
    FROM violating AS larger
    CROSS JOIN violating AS smaller
    GROUP BY
{%- for column in columns %}
        larger.has_{{ loop.index }},
{%- endfor %}
        larger.columns_in_set, larger.smallest, larger.everybody, larger.at_risk
)
{%- endmacro %}

{# The columns of a set in words: `names` are texts in SQL's quotes. #}
{% macro set_in_words(names) -%}
SUBSTR({% for name in names %}CASE WHEN has_{{ loop.index }} = 1 THEN ' + ' || {{ name }} ELSE '' END{{ " || " if not loop.last }}{% endfor %}, 4)
{%- endmacro %}

{# How many values of `column` are several and one to who reads them: `folded` is the value as it is read, `unsure` 1 for such a
   `spelling` that the dialect cannot fold, `nested` 1 for a value that holds texts, `letters` what tells values apart that a
   collation takes for equal, or nothing. #}
{% macro spelled_in_several_ways(relation, column, letters, folded, nested, unsure) -%}
(SELECT COUNT(*) FROM (SELECT spelling FROM (SELECT {{ folded }} AS spelling, {{ nested }} AS is_nested FROM {{ relation }} GROUP BY {{ column }}{{ ", " ~ letters if letters }}) AS spelled GROUP BY spelling HAVING COUNT(*) > 1 OR MAX(is_nested) > 0 OR {{ unsure }} > 0) AS found)
{%- endmacro %}

{# Persons with many rows in one SELECT: which combination of the quasi-identifiers (event) each person has, and which
   persons have the same ones. Events are numbers, so that missing values are equal and nothing is joined on keys. With
   `solo` a row with a missing value is an event that no one else has. SQL that every dialect shares, without arrays. #}

{# `own` has each event of each person once, `people` each person, `lonely` where one of the events is no one else's. With
   `only_several` they are empty where no person has more than one combination. #}
{% macro events(source, columns, key, key_count, solo, only_several=false) -%}
person_rows AS (
    SELECT
        {{ columns }}
    FROM {{ source }}
),
pairs AS (
    SELECT {{ key }}, e, COUNT(*) AS row_count
    FROM person_rows
    WHERE e IS NOT NULL
    GROUP BY {{ key }}, e
),
{%- if only_several %}
several AS (
    SELECT COUNT(*) AS persons
    FROM (SELECT e FROM pairs GROUP BY e HAVING COUNT(*) > 1) AS of_person
),
{%- endif %}
numbered AS (
    SELECT
        e,
        row_count,
        DENSE_RANK() OVER (ORDER BY {{ key }}) AS event,
        {{ sqlaudit.missing(key_count) if solo else "0" }} AS lonely
    FROM pairs
{%- if only_several %}
    WHERE {{ sqlaudit.some_know_more() }}
{%- endif %}
),
own AS (
    SELECT e, event FROM numbered{{ " WHERE lonely = 0" if solo }}
),
people AS (
    SELECT e, MAX(lonely) AS lonely FROM numbered GROUP BY e
)
{%- endmacro %}

{% macro missing(key_count) -%}
CASE WHEN {% for place in range(1, key_count + 1) %}q{{ place }} IS NULL{{ " OR " if not loop.last }}{% endfor %} THEN 1 ELSE 0 END
{%- endmacro %}

{# `alike` has for each person a person who stands for all with the same events, and how many these are. Who agrees in
   their number and in sums of their powers is in one group, and a group with no more events than each of its persons has
   is of the same events. Powers of events are taken modulo a prime, so that no sum is too large. Sums that agree by chance
   decide nothing: in such a group who differs from its first person is compared with each other who does. #}
{% macro persons_alike(solo) -%}
{%- set rest = "MOD(own.event, 1000003)" -%}
{%- set square = "MOD(" ~ rest ~ " * " ~ rest ~ ", 1000003)" -%}
{%- set to_here = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW" -%}
candidates AS (
    SELECT
        own.e AS e,
        COUNT(*) AS events,
        MIN(own.event) AS lowest,
        MAX(own.event) AS highest,
        SUM({{ rest }}) AS added,
        SUM({{ rest }} * {{ rest }}) AS squared,
        SUM({{ square }} * {{ rest }}) AS cubed,
        SUM({{ square }} * {{ square }}) AS fourth
    FROM own
{%- if solo %}
    JOIN people ON people.e = own.e
    WHERE people.lonely = 0
{%- endif %}
    GROUP BY own.e
),
standing AS (
    SELECT
        e, events,
        FIRST_VALUE(e) OVER (PARTITION BY events, lowest, highest, added, squared, cubed, fourth ORDER BY e {{ to_here }}) AS known
    FROM candidates
),
mixed AS (
    SELECT known
    FROM (
        SELECT standing.known AS known, standing.events AS events, own.event AS event
        FROM standing
        JOIN own ON own.e = standing.e
        GROUP BY standing.known, standing.events, own.event
    ) AS of_group
    GROUP BY known, events
    HAVING COUNT(*) > events
),
compared AS (
    SELECT standing.e AS e, COUNT(*) AS shared
    FROM mixed
    JOIN standing ON standing.known = mixed.known
    JOIN own AS mine ON mine.e = standing.e
    JOIN own AS theirs ON theirs.e = standing.known AND theirs.event = mine.event
    GROUP BY standing.e
),
differing AS (
    SELECT standing.e AS e, standing.known AS known, standing.events AS events
    FROM mixed
    JOIN standing ON standing.known = mixed.known
    LEFT JOIN compared ON compared.e = standing.e
    WHERE compared.e IS NULL OR compared.shared < standing.events
),
common AS (
    SELECT mine.e AS e, theirs.e AS other
    FROM differing AS mine
    JOIN differing AS theirs ON theirs.known = mine.known
    JOIN own AS own_events ON own_events.e = mine.e
    JOIN own AS other_events ON other_events.e = theirs.e AND other_events.event = own_events.event
    GROUP BY mine.e, theirs.e, mine.events
    HAVING COUNT(*) = mine.events
),
stood_for AS (
    SELECT standing.e AS e, standing.known AS known
    FROM standing
    LEFT JOIN mixed ON mixed.known = standing.known
    LEFT JOIN compared ON compared.e = standing.e
    WHERE mixed.known IS NULL OR compared.shared = standing.events
    UNION ALL
    SELECT DISTINCT e, FIRST_VALUE(other) OVER (PARTITION BY e ORDER BY other {{ to_here }}) FROM common
),
alike AS (
    SELECT e, known, COUNT(*) OVER (PARTITION BY known) AS persons FROM stood_for
)
{%- endmacro %}

{# The rows with one key for all rows of a person, for an attacker who knows all of them; with `only_several` none where no
   person has more than one combination. #}
{% macro all_rows(source, columns, key, key_count, solo, only_several=false) -%}
{{ sqlaudit.events(source, columns, key, key_count, solo, only_several) }},
{{ sqlaudit.persons_alike(solo) }},
all_rows AS (
    SELECT COALESCE(alike.known, person_rows.e) AS known, person_rows.e AS person, person_rows.s AS told
    FROM person_rows
    LEFT JOIN alike ON alike.e = person_rows.e
{%- if only_several %}
    WHERE {{ sqlaudit.some_know_more() }}
{%- endif %}
)
{%- endmacro %}

{# Of how many persons who may stand for somebody in `people` are `found`: the fewest who share something, or all alike. #}
{% macro persons_found() %}CASE WHEN people.lonely = 1 THEN 1 ELSE found.persons END{% endmacro %}
{% macro person_falls_short(k) %}(people.lonely = 1 AND 1 < {{ k }}) OR (people.lonely = 0 AND found.persons < {{ k }}){% endmacro %}

{# Whether some person has more than one combination: else who knows all rows knows no more than one tells. #}
{% macro some_know_more() %}(SELECT persons FROM several) > 0{% endmacro %}

{# For each person the fewest who share some event, or some two, of the person. #}
{% macro least_shared(known) -%}
shared AS (
    SELECT event AS one, event AS other, COUNT(*) AS persons FROM own GROUP BY event
{%- if known > 1 %}
    UNION ALL
    SELECT mine.event, further.event, COUNT(*)
    FROM own AS mine
    JOIN own AS further ON further.e = mine.e AND mine.event < further.event
    GROUP BY mine.event, further.event
{%- endif %}
),
least AS (
    SELECT own.e AS e, MIN(shared.persons) AS persons
    FROM own
    JOIN shared ON shared.one = own.event
    JOIN own AS further ON further.e = own.e AND further.event = shared.other
    GROUP BY own.e
)
{%- endmacro %}
