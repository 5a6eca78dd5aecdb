{# How many values have several spellings: different texts that folding makes one (`folded` of `value`). `unsure`: a pattern
   of folded texts of which this database cannot say it. `missing`: whether NULL is a value, as sensitive ones are.
   `nested`: whether a text that begins with a bracket is one of several values. #}
SELECT
    CAST(COALESCE(SUM(CASE WHEN spellings > 1 OR unsure = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS merged_values,
    CAST(COALESCE(MAX(unsure), 0) AS BIGINT) AS unsure,
    CAST(COALESCE(MAX(nested), 0) AS BIGINT) AS nested
FROM (
    SELECT
        folded,
        COUNT(*) AS spellings,
        MAX({% if unsure %}CASE WHEN REGEXP_MATCHES(folded, '{{ unsure }}'){% if dialect == "postgres" %} AND LOWER('É' COLLATE "default") = 'É'{% endif %} THEN 1 ELSE 0 END{% else %}0{% endif %}) AS unsure,
        MAX({% if nested %}CASE WHEN REGEXP_MATCHES(folded, '^[(\[{<\\]') THEN 1 ELSE 0 END{% else %}0{% endif %}) AS nested
    FROM (
        SELECT {{ folded }} AS folded
        FROM (
            SELECT DISTINCT value
            FROM (
                {% for place in places %}
                SELECT CAST({{ place.value }} AS VARCHAR) AS value FROM {{ place.source }}
                {{ "UNION ALL" if not loop.last }}
                {% endfor %}
            ) AS every_value
            {% if not missing %}
            WHERE value IS NOT NULL
            {% endif %}
        ) AS different_values
    ) AS folded_values
    GROUP BY folded
) AS groups_of_values
