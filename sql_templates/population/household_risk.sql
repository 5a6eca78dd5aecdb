{# Risk of households: that at least one member is found, 1 - Π(1 - risk) over the individual risks of the members, in one
   row of totals over rows and households. Logarithms are added up, and those of small risks by their series, which keeps
   the digits that 1 - risk would lose. With `most`, the wanted global risk, also the threshold of risk that keeps it. #}
{% from "population/_risk.sql" import risk, shares %}
{% from "population/_threshold.sql" import chosen, levels %}
{% set homeless = "CASE WHEN household IS NULL THEN members ELSE 0 END" %}
{% macro key() %}{% for column in columns %}c{{ loop.index0 }}{{ ", " if not loop.last }}{% endfor %}{% endmacro %}
{% macro solo() %}{% for column in columns %}c{{ loop.index0 }} IS NULL{{ " OR " if not loop.last }}{% endfor %}{% endmacro %}
WITH people AS (
    SELECT
        {% for column in columns %}
        {{ column }} AS c{{ loop.index0 }},
        {% endfor %}
        CAST({{ weight }} AS DECIMAL(18, 6)) AS weight,
        {{ household }} AS household
    FROM {{ source }}
),
counted AS (
    SELECT
        household,
        {% if nulls == "distinct" %}
        CASE WHEN {{ solo() }} THEN 1 ELSE COUNT(*) OVER (PARTITION BY {{ key() }}) END AS f,
        CASE WHEN {{ solo() }} THEN weight ELSE SUM(weight) OVER (PARTITION BY {{ key() }}) END AS population
        {% else %}
        COUNT(*) OVER (PARTITION BY {{ key() }}) AS f,
        SUM(weight) OVER (PARTITION BY {{ key() }}) AS population
        {% endif %}
    FROM people
),
shares AS (
    SELECT household, f, population, {{ shares("f", "population") }}
    FROM counted
),
risks AS MATERIALIZED (
    SELECT
        household,
        {{ risk("f", "population") }} AS risk
    FROM shares
),
homes AS (
    SELECT
        household,
        COUNT(*) AS members,
        MAX(risk) AS surest,
        SUM(
            CASE
                WHEN risk >= 1 THEN 0
                WHEN risk < 0.001 THEN -risk * (1 + risk * (5e-1 + risk * ({{ "%.17e" | format(1 / 3) }} + risk * (2.5e-1 + risk / 5))))
                ELSE LN(1 - risk)
            END
        ) AS kept
    FROM risks
    GROUP BY household
),
found AS (
    SELECT
        household,
        members,
        CASE
            WHEN surest >= 1 THEN CAST(1 AS DOUBLE)
            WHEN kept > -0.001 THEN -kept * (1 + kept * (5e-1 + kept * ({{ "%.17e" | format(1 / 6) }} + kept * ({{ "%.17e" | format(1 / 24) }} + kept / 120))))
            ELSE 1 - EXP(kept)
        END AS risk
    FROM homes
){% if most is not none %},
{{ levels("found", {"row_count": "members", "home_count": "1", "homeless": homeless}, true) }}{% endif %}

{% set members = "members" if most is none else "row_count" %}
SELECT
    {{ "COUNT(*)" if most is none else "COALESCE(SUM(home_count), 0)" }} AS households,
    COALESCE(SUM({{ homeless if most is none else "homeless" }}), 0) AS homeless,
    COALESCE(SUM({{ members }}), 0) AS row_total,
    SUM({{ members }} * risk) AS expected,
    MAX(risk) AS highest,
    {% for threshold in thresholds %}
    SUM(CASE WHEN risk > {{ threshold }} THEN {{ members }} ELSE 0 END) AS above_{{ loop.index0 }}{{ "," if not loop.last or most is not none }}
    {% endfor %}
    {% if most is not none %}
    {{ chosen(most, true) }}
    {% endif %}
FROM {{ "found" if most is none else "bounded" }}
