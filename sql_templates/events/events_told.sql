{# The persons again with a set of which too many hold one value, each with the smallest number of events that does: those
   before, those alone with a set, and those who have a set where the share is above the limit. #}
{% import "events/_events_sets.sql" as parts with context %}
WITH remaining AS (
    SELECT person, event{{ ", moment" if sequence }} FROM {{ own }} ANTI JOIN {{ told }} USING (person)
)
SELECT person, MIN(known) AS known
FROM (
    SELECT person, known FROM {{ told }}
    UNION ALL
    SELECT person, {{ size }} FROM {{ alone }} WHERE {{ whole }} - {{ allowed }} >= {{ least }}
    UNION ALL
    SELECT own1.person, {{ size }}
    FROM {{ parts.of_persons("remaining", size) }}
    JOIN {{ learnt }} AS learnt ON {{ parts.is_set(size, "learnt") }}
    WHERE CAST({{ whole }} AS HUGEINT) * learnt.most - CAST({{ allowed }} AS HUGEINT) * learnt.persons >= {{ least }}
) AS found
GROUP BY person
