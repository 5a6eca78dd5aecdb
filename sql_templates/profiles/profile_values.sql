{# What the values of each column look like, one row a column; only counts leave the database. NULL is a group of its
   own in group sizes, and no value in everything else. Without texts nothing is asked of shapes, which take half of the
   time in which the statement is planned. Values of other kinds (lists, structures) are read as text, and only asked what
   they contain. Numbers of people are recognised where `forms` are given, and without them it is counted how many values
   are worth that. #}
{% import "profiles/_profile.sql" as parts with context %}
{% if forms %}{% import "profiles/_forms.sql" as numbers with context %}{% endif %}
{% set texts = columns | selectattr("spelled") | list %}
{% set last_step = "containing" if texts else "checked" if forms else "shaped" %}
WITH {{ parts.target(source, columns, share, first) }},
{{ parts.value_groups(columns) }},
spelled AS (
    SELECT
        column_number,
        n,
        {% block spellings %}{% endblock %}
        {{ parts.by_column(columns, "any", "CASE WHEN ? IS NULL THEN 0 ELSE 1 END", "INTEGER") }} AS filled,
        {{ parts.by_column(columns, "spelled", "CAST(? AS VARCHAR)", "VARCHAR") }} AS spelling,
        {{ parts.by_column(columns, "fraction", "CASE WHEN " ~ parts.is_whole() ~ " THEN 1 ELSE 0 END", "INTEGER") }} AS whole,
        {{ parts.by_column(columns, "whole", "CAST(? AS DOUBLE)", "DOUBLE") }} AS whole_number,
        {{ parts.by_column(columns if forms else [], "whole", "CASE WHEN ? >= 10000000 THEN CAST(? AS VARCHAR) END", "VARCHAR") }} AS digits
    FROM value_groups
),
shaped AS (
    SELECT
        *,
        {% block texts %}{% endblock %}
        {{ parts.folded() }} AS folded,
        LENGTH(spelling) AS characters,
        CASE WHEN spelling IS NULL THEN digits WHEN LENGTH(spelling) BETWEEN 8 AND 42 THEN TRANSLATE(UPPER(spelling), ' -.', '') END AS code
    FROM spelled
){% if forms %},
{{ numbers.steps(forms) }}{% endif %}{% if texts %},
recognised AS (
    SELECT
        *,
        CASE
            WHEN spelling IS NULL THEN {{ "of_people" if forms else "NULL" }}
            WHEN {{ parts.is_missing() }} THEN 'missing'
            WHEN {{ parts.is_sentence(43) }} AND NOT {{ parts.is_date() }} AND NOT {{ parts.has(parts.coordinates()) }} THEN 'free_text'
            WHEN {{ parts.has("^[^@＠﹫[:space:]]+[@＠﹫][^@＠﹫[:space:]]+[.][A-Za-z]{2,}$") }} THEN 'email'
            WHEN {{ parts.has("^([a-z]+://|www[.])[^[:space:]]+$") }} THEN 'url'
            WHEN {{ parts.has("^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$") }} THEN 'uuid'
            WHEN {{ parts.has("^" ~ parts.ip_address() ~ "$") }} THEN 'ip_address'
            WHEN {{ parts.has("^([0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4}){7}|[0-9A-Fa-f:]*::[0-9A-Fa-f:]*)$") }} THEN 'ip_address'
            WHEN {{ parts.has("^(([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{4}[.]){2}[0-9A-Fa-f]{4})$") }} THEN 'mac_address'
            WHEN {{ parts.is_date() }} THEN 'date'
            WHEN {{ parts.has("^" ~ parts.social_security("[- ]") ~ "$") }} THEN 'national_id'
            WHEN {{ parts.has(parts.coordinates()) }} THEN 'coordinates'
            {% if forms %}
            WHEN of_people IS NOT NULL THEN of_people
            {% endif %}
            WHEN {{ parts.has("^[+-]?[0-9]+([.,][0-9]+)?$") }} AND NOT {{ parts.has("^[+0][0-9]{8,14}$") }} THEN 'number'
            WHEN {{ parts.has("^([Tt][Ee][Ll]:|[Pp]hone:|[Ff]ax:)? ?(([+]|[(]?0)[0-9 ()/.-]{6,20}|[(]?[2-9][0-9]{2}[)]?[ /.-]{1,2}[0-9]{3}[ .-]?[0-9]{3,4}|[2-9][0-9]( [0-9]{2}){3})$") }}
                AND NOT {{ parts.has("^([0-9][ .-]?){16,}$|^97[89][ -]?([0-9][ -]?){10}$") }}
                AND NOT {{ parts.has("^(19|20)[0-9]{2}[-/.][0-9]+$") }} THEN 'phone'
            WHEN {{ parts.is_sentence(40) }} THEN 'free_text'
            WHEN {{ parts.has("^" ~ parts.capitalised() ~ "( " ~ parts.capitalised() ~ "){1,3}$") }} THEN 'capitalised_words'
            ELSE 'other'
        END AS shape
    FROM {{ "checked" if forms else "shaped" }}
),
containing AS (
    SELECT
        *,
        CASE
            WHEN shape NOT IN ('other', 'free_text', 'capitalised_words') THEN NULL
            WHEN (spelling LIKE '%@%' OR spelling LIKE '%＠%') AND {{ parts.has("[A-Za-z0-9._%+-]+[@＠][A-Za-z0-9-]+([.][A-Za-z0-9-]+)*[.][A-Za-z]{2,}") }} THEN 'email'
            WHEN characters >= 15 {{ "AND form IS NULL " if forms }}AND {{ parts.has_digit() }} AND {{ parts.has(parts.alone(parts.iban())) }} THEN 'iban'
            WHEN spelling LIKE '%-%-%' AND {{ parts.has(parts.alone(parts.social_security())) }} THEN 'national_id'
            WHEN spelling LIKE '%.%.%.%' AND {{ parts.has(parts.alone(parts.ip_address())) }} THEN 'ip_address'
            WHEN spelling LIKE '%://%' THEN 'url'
        END AS found_inside,
        CASE WHEN characters BETWEEN 8 AND 42 AND shape IN ('number', 'phone', 'other') AND {{ parts.has("^([A-Za-z .-]*[0-9]){4}[A-Za-z0-9 .-]*$") }}
                AND (characters <= 26 OR {{ parts.has("^[A-Za-z]{2}[0-9]{2}") }}) THEN n ELSE 0 END AS coded
    FROM recognised
){% endif %}
{% block judged %}{% endblock %}

SELECT
    column_number,
    SUM(n) AS rows_looked_at,
    SUM(n * filled) AS filled_rows,
    SUM(filled) AS distinct_values,
    MIN(n) AS smallest_group,
    SUM(CASE WHEN n < 5 THEN n ELSE 0 END) AS rows_below_5,
    SUM(CASE WHEN n = 1 THEN 1 ELSE 0 END) AS unique_rows,
    SUM(CASE WHEN n = 1 THEN filled ELSE 0 END) AS unique_values,
    SUM(n * LN(CAST(n AS DOUBLE))) AS count_log_count,
    SUM(CAST(n AS DOUBLE) * (n - 1)) AS pairs,
    MIN(characters) AS shortest,
    MAX(characters) AS longest,
    SUM(n * characters) AS all_characters,
    {% block folded_values %}COUNT(DISTINCT folded){% endblock %} AS folded_values,
    SUM(n * whole) AS whole_rows,
    MAX(whole_number) - MIN(whole_number) AS width,
    MAX(CASE WHEN whole_number NOT BETWEEN 0 AND 9999 THEN 1 WHEN whole_number IS NOT NULL THEN 0 END) AS large,
    {% if texts %}SUM(CASE WHEN shape = 'number' AND {{ parts.has("[.,][0-9]*[1-9][0-9]*$") }} AND NOT {{ parts.has("^[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}$") }} THEN n ELSE 0 END){% else %}0{% endif %} AS measured
{% for shape in shapes %}
    , {% if texts %}SUM(CASE WHEN shape = '{{ shape }}' THEN n ELSE 0 END){% elif forms and shape in numbered %}SUM(CASE WHEN of_people = '{{ shape }}' THEN n ELSE 0 END){% else %}0{% endif %} AS {{ shape }}_rows
{% endfor %}
{% for kind in inside %}
    , {% if texts %}SUM(CASE WHEN found_inside = '{{ kind }}' THEN n ELSE 0 END){% else %}0{% endif %} AS {{ kind }}_inside
{% endfor %}
    , SUM(CASE WHEN whole_number >= 10000000 THEN n ELSE {{ "coded" if texts else 0 }} END) AS coded_rows
{% block tested %}{% endblock %}
FROM {% block last_step %}{{ last_step }}{% endblock %}

GROUP BY column_number
ORDER BY column_number
