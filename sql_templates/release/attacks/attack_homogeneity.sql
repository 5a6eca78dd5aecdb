{# Classes that hold a single sensitive value, and how often the guess "the most frequent value of the class" is right.
   Nearly sure are those about whom it is right, in classes where the share of that value is at least `sure`. #}
{% import "classes/_facts_relation.sql" as relation with context %}
{% macro where(condition, what) %}CAST(COALESCE(SUM(CASE WHEN {{ condition }} THEN {{ what }} * classes ELSE 0 END), 0) AS BIGINT){% endmacro %}
WITH {{ relation.facts_relation(classes, totals, facts, form, none) }}
SELECT
    CAST(COALESCE(SUM(size * classes), 0) AS BIGINT) AS members,
    CAST(COALESCE(SUM(n * classes), 0) AS BIGINT) AS pairs,
    {{ where("distinct_values = 1", "size") }} AS exposed,
    {{ where("distinct_values = 1", "1") }} AS exposed_classes,
    {{ where("size = 1", "size") }} AS alone,
    {{ where("CAST(largest AS " ~ wide ~ ") * " ~ sure.denominator ~ " >= CAST(n AS " ~ wide ~ ") * " ~ sure.numerator, "largest") }} AS nearly,
    CAST(COALESCE(SUM(largest * classes), 0) AS BIGINT) AS right_guesses,
    MAX(CAST(largest AS DOUBLE) / n) AS highest
FROM facts
