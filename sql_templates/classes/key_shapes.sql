{# How many bits the columns of the key need as codes: the smallest and the largest of whole numbers, about how many
   different values the others have; and how many NULLs. #}
{% import "classes/_target.sql" as parts with context %}
WITH {{ parts.target(source, keys, none, none, false) }}
SELECT
{% for whole in wholes %}
    {% set q = "q" ~ loop.index %}
    {{ "MIN(" ~ q ~ "), MAX(" ~ q ~ ")" if whole else "0, APPROX_COUNT_DISTINCT(" ~ q ~ ")" }}, COUNT(*) - COUNT({{ q }}){{ "," if not loop.last }}
{% endfor %}
FROM target
