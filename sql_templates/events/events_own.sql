{# Who has which event, by number; in this order pairs of near numbers are counted together, which spares half of the time. #}
SELECT CAST(occurrences.person AS INTEGER) AS person, dictionary.event{{ ", dictionary.repeated" if repeats }}{{ ", occurrences.moment" if sequence }}
FROM {{ occurrences }} AS occurrences
JOIN {{ dictionary }} AS dictionary USING ({{ keys }}, own_row, nth)
ORDER BY dictionary.event
