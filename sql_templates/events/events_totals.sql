{# Events, pairs of a person and an event (in a `sequence` at each moment), and for the cuts of the search the first events that two and that k have. #}
SELECT
    COUNT(*) AS events,
    {{ "(SELECT COUNT(*) FROM " ~ own ~ ")" if sequence else "COALESCE(SUM(persons), 0)" }} AS pairs,
    COALESCE(MIN(event) FILTER (WHERE persons >= 2), MAX(event) + 1) AS first_shared,
    COALESCE(MIN(event) FILTER (WHERE persons >= {{ k }}), MAX(event) + 1) AS first_safe
FROM {{ dictionary }}
