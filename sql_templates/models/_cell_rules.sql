{# When a cell fails a rule, over its contributors n, holdings h, value x and largest contributions x1, x2, … in
   whole numbers. A cell without a number is hidden, and fails nothing. #}
{% macro few_contributors(n, zeros) %}n < {{ n }}{{ "" if zeros else " AND n <> 0" }}{% endmacro %}
{% macro few_holdings(n) %}h < {{ n }} AND h <> 0{% endmacro %}
{% macro dominated(n, numerator, denominator) %}({{ top(n) }}) * {{ 100 * denominator }} > x * {{ numerator }}{% endmacro %}
{% macro estimated(numerator, denominator) %}(x - ({{ top(2) }})) * {{ denominator }} < x1 * {{ numerator }}{% endmacro %}
{% macro top(n) %}{% for place in range(1, n + 1) %}{{ " + " if not loop.first }}COALESCE(x{{ place }}, 0){% endfor %}{% endmacro %}
