{# What standalone statements say of classes beyond what audits say (_levels.sql), and the facts that they ask for. #}

{# The facts of a class as columns, after others. #}
{% macro listed(facts, more_facts) -%}
{% import "classes/_facts.sql" as macros with context %}
{% for fact in facts %}{{ "\n        , " }}{{ macros[fact.macro](**fact.arguments) | trim }} AS {{ fact.name }}{% endfor %}
{% for name, aggregate in more_facts %}{{ "\n        , " }}{{ aggregate }} AS {{ name }}{% endfor %}
{%- endmacro %}

{% macro met() %}size > 0{% endmacro %}
{% macro more_than_population() %}size > population_size{% endmacro %}
{% macro journalist_risk() %}CAST(1 AS DOUBLE) / NULLIF(MIN(population_size), 0){% endmacro %}
{% macro marketer_risk() %}SUM(CAST(size AS DOUBLE) / NULLIF(population_size, 0)) / SUM(size){% endmacro %}
{% macro people() %}population_size{% endmacro %}
{% macro riskier_in_population(limit) %}population_size * {{ limit.numerator }} < {{ limit.denominator }}{% endmacro %}
{% macro presence() %}CAST(size AS DOUBLE) / NULLIF(population_size, 0){% endmacro %}
{% macro presence_outside(low, high) %}CAST(size AS {{ wide }}) * {{ low.denominator }} < CAST(population_size AS {{ wide }}) * {{ low.numerator }} OR CAST(size AS {{ wide }}) * {{ high.denominator }} > CAST(population_size AS {{ wide }}) * {{ high.numerator }}{% endmacro %}
{% macro fewer_people(k) %}population_size < {{ k }}{% endmacro %}
{% macro matched_by_few(k) %}size > 0 AND population_size > 0 AND population_size < {{ k }}{% endmacro %}

{# Numbers of a distance whose scale holds M - 1, the number of values less one; 1 where there is one value. #}
{% macro values_less_one() %}GREATEST(1, value_count - 1){% endmacro %}

{# The range of the values of a class, for a class function that is the value itself. #}
{% macro highest_value() %}MAX(s){% endmacro %}
{% macro lowest_value() %}MIN(s){% endmacro %}
{% macro range_of_values() %}highest_value - lowest_value{% endmacro %}
{% macro range_below(limit) %}({{ range_of_values() }}) * {{ limit.denominator }} < {{ limit.numerator }}{% endmacro %}

{# What rules a check out: how many rows of a relation are so; how many values are written in several ways, which count as
   one and are several to who reads them; how many persons have two values, or lie in two classes. #}
{% macro count_where(relation, condition) %}(SELECT COUNT(*) FROM {{ relation }} WHERE {{ condition }}){% endmacro %}
{% macro written_in_several_ways(letters) %}(SELECT COUNT(*) FROM (SELECT s FROM target GROUP BY s HAVING COUNT(DISTINCT {{ letters }}) > 1) AS found){% endmacro %}
{% macro persons_in_several_places() %}(SELECT COUNT(*) FROM (SELECT e FROM members GROUP BY e HAVING COUNT(*) > 1) AS found){% endmacro %}

{# Figures of the whole table from the sizes of its classes. #}
{% macro folded(fold, expression) %}{{ fold }}({{ expression }}){% endmacro %}
{% macro some_class() %}SUM(falls_short) > 0{% endmacro %}
{% macro highest_risk() %}CAST(1 AS DOUBLE) / MIN(size){% endmacro %}
{% macro mean_risk() %}CAST(COUNT(*) AS DOUBLE) / SUM(size){% endmacro %}
{% macro members_where(condition) %}SUM(CASE WHEN {{ condition }} THEN size ELSE 0 END){% endmacro %}
{% macro share_where(condition) %}CAST({{ members_where(condition) }} AS DOUBLE) / SUM(size){% endmacro %}
{% macro mean_risk_above(limit) %}CAST(COUNT(*) AS {{ wide }}) * {{ limit.denominator }} > SUM(size) * {{ limit.numerator }}{% endmacro %}
{% macro share_where_above(condition, limit) %}CAST({{ members_where(condition) }} AS {{ wide }}) * {{ limit.denominator }} > SUM(size) * {{ limit.numerator }}{% endmacro %}

{# Maximum disclosure of a class, from its ratio. #}
{% macro disclosure() %}1 / (1 + ratio){% endmacro %}
{% macro negated_disclosure() %}CAST(head_1 AS DOUBLE) / (n - head_of_all + head_1){% endmacro %}
