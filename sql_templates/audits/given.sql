{# A statement of ours, kept. #}
SELECT * FROM {{ statement }} AS given
