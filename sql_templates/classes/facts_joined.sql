{# All facts of classes: those that cells gave at once, those that every class was looked at for, and those of the
   classes that had to be looked at apart. Elsewhere every value that occurs is more frequent than in the table, and the
   distance follows from what these have there. #}
SELECT
    known.id, CAST(known.n AS BIGINT) AS n, CAST(known.n AS BIGINT) AS size, 1 AS classes, CAST(known.n AS BIGINT) AS table_rows
{% for name, count in early %}
    , {{ "CAST(known." ~ name ~ " AS BIGINT) AS " ~ name if count else "known." ~ name }}
{% endfor %}
{% for name, macro in late %}
    {% set short = {"equal_distance": "2 * (CAST(known.n AS " ~ wide ~ ") * (" ~ total ~ " - known.present))", "gains_above_log": "CASE WHEN known.bound * " ~ total ~ " > known.n THEN 1 ELSE 0 END", "wide_n": "CAST(known.n AS " ~ wide ~ ")"} %}
    , {{ short[macro] if macro == "wide_n" else "CASE WHEN apart.id IS NULL THEN " ~ short[macro] ~ " ELSE apart." ~ name ~ " END" if macro in short else "every." ~ name }} AS {{ name }}
{% endfor %}
FROM {{ known }} AS known
{% if apart is not none %}
LEFT JOIN {{ apart }} AS apart ON known.id = apart.id
{% endif %}
{% if every is not none %}
JOIN {{ every }} AS every ON known.id = every.id
{% endif %}
