{# What conditions say of a row: a digit of base 3 for each, 1 = true, 0 = false, 2 = unknown. #}
{% for atom in atoms %}CASE WHEN {{ atom }} THEN {{ 3 ** loop.index0 }} WHEN NOT ({{ atom }}) THEN 0 ELSE {{ 2 * 3 ** loop.index0 }} END{{ " + " if not loop.last }}{% endfor %}
