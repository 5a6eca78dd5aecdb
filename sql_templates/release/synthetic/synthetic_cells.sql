{# The rows of original (d), synthetic table (s) and holdout (h) with each combination of values. #}
{% import "release/synthetic/_stacked.sql" as rows %}
{{ rows.counted(sides) }}
