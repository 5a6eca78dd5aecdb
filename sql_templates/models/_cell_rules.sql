{# When a cell fails a rule, over its contributors n, holdings h, value x and largest contributions x1, x2, … in
   whole numbers. A cell without a number is hidden, and fails nothing. Of several values of a cell, `of` is what the
   names of one end in. #}
{% macro few_contributors(n, zeros, of="") %}n{{ of }} < {{ n }}{{ "" if zeros else " AND n" ~ of ~ " <> 0" }}{% endmacro %}
{% macro few_holdings(n, of="") %}h{{ of }} < {{ n }} AND h{{ of }} <> 0{% endmacro %}
{% macro dominated(n, numerator, denominator, of="") %}({{ top(n, of) }}) * {{ 100 * denominator }} > x{{ of }} * {{ numerator }}{% endmacro %}
{% macro estimated(numerator, denominator, of="") %}(x{{ of }} - ({{ top(2, of) }})) * {{ denominator }} < x1{{ of }} * {{ numerator }}{% endmacro %}
{% macro top(n, of="") %}{% for place in range(1, n + 1) %}{{ " + " if not loop.first }}COALESCE(x{{ place }}{{ of }}, 0){% endfor %}{% endmacro %}
{# All contributors, but those who are known, have the same value: same contributors have it. #}
{% macro uniform(known, of="") %}n{{ of }} <> 0 AND n{{ of }} - same{{ of }} <= {{ known }}{% endmacro %}
