{# Who has which event, by number. #}
SELECT CAST(occurrences.person AS INTEGER) AS person, dictionary.event{{ ", dictionary.repeated" if repeats }}{{ ", occurrences.moment" if sequence }}
FROM {{ occurrences }} AS occurrences
JOIN {{ dictionary }} AS dictionary USING ({{ keys }}, own_row, nth)
