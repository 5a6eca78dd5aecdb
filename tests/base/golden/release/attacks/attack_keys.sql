/* sqlaudit: attack_keys */
SELECT
    (SELECT COUNT("id") - COUNT(DISTINCT "id") FROM patients) AS in_release,
    (SELECT COUNT("id") - COUNT(DISTINCT "id") FROM patients) AS in_other
