{# Who fits which event, by number, and whether it is theirs. #}
SELECT fitting.person, dictionary.event, fitting.has
FROM {{ fitting }} AS fitting
JOIN {{ dictionary }} AS dictionary USING (known)
