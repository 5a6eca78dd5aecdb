{# The classes of some nodes with the facts that the models asked for, attribute by attribute: `grouped` has id (which
   node), n and the words of the lanes. A block is {position, lanes: (column, word, shift), mask, facts: (name,
   expression), checks: (name, failing, doubtful)}. Each block turns its words into facts and these into verdicts. #}
{% macro facts_of(block, before) %}
counted_{{ block.position }} AS NOT MATERIALIZED (
    SELECT
        *
    {% for column, word, shift in block.lanes %}
        , ({{ word ~ " >> " ~ shift if shift else word }}) & {{ block.mask }} AS {{ column }}
    {% endfor %}
    FROM {{ before }}
),
known_{{ block.position }} AS NOT MATERIALIZED (
    SELECT
        *
    {% for name, expression in block.facts %}
        , {{ expression }} AS {{ name }}
    {% endfor %}
    FROM counted_{{ block.position }}
)
{%- endmacro %}

{# The classes of the nodes `ids` with the facts of one block. #}
{% macro known(grouped, ids, block) %}
grouped AS NOT MATERIALIZED (
    SELECT *, n AS size FROM {{ grouped }} AS class WHERE id IN ({{ ids | join(", ") }})
),
{{ facts_of(block, "grouped") }}
{%- endmacro %}

{% macro judged(grouped, blocks, keep) %}
grouped AS NOT MATERIALIZED (
    SELECT *, n AS size FROM {{ grouped }} AS class
)
{%- set names = [] %}
{% for block in blocks %}
,
{{ facts_of(block, "judged_" ~ blocks[loop.index0 - 1].position if not loop.first else "grouped") }},
judged_{{ block.position }} AS NOT MATERIALIZED (
    SELECT
        id, n, size{{ ", " ~ keep if keep }}
    {% for later in blocks[loop.index0:] %}
        {% for word in later.words %}, {{ word }}{% endfor %}

    {% endfor %}
    {% for name in names %}
        , {{ name }}
    {% endfor %}
    {% for check in block.checks %}
        , ({{ check.failing }}) AS {{ check.name }}
        {% if check.doubtful %}
        , ({{ check.doubtful }}) AS {{ check.name }}_doubtful
        {% endif %}
        {% for name in [check.name] + ([check.name ~ "_doubtful"] if check.doubtful else []) %}{% if names.append(name) %}{% endif %}{% endfor %}

    {% endfor %}
    FROM known_{{ block.position }}
)
{%- endfor %}
{% endmacro %}

{# True when any of the named verdicts is. #}
{% macro any_of(names) %}{% for name in names %}{{ name }}{{ " OR " if not loop.last }}{% endfor %}{{ "FALSE" if not names }}{% endmacro %}

{# The keys of the classes that fail, after `judged`. #}
{% macro failing_keys(blocks, any, key) %}
failing AS (
    SELECT id, {{ key }}
    FROM judged_{{ blocks[-1].position }}
    WHERE {{ any_of(any) }}
)
{%- endmacro %}

{# The finest classes in every node, with their own key and that of the class (c0, c1, …) that they fall into. #}
{% macro finest_in_nodes(base, nodes, key) -%}
SELECT
        nodes.id, base.n
    {% for word in key %}
        , base.{{ word }}, base.{{ word }} & nodes.m{{ loop.index0 }} AS c{{ loop.index0 }}
    {% endfor %}
    FROM {{ base }} AS base
    CROSS JOIN {{ nodes }} AS nodes
{%- endmacro %}
