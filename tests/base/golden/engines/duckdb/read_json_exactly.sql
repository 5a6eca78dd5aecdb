/* sqlaudit: read_json_exactly */
(SELECT /* as written */
    CAST(json_extract_string(array_to_string(list_transform(
    regexp_extract_all(CAST(json AS VARCHAR), '(?s)"(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9eE]*|[^"0-9-]+|.'),
    lambda t: CASE WHEN regexp_matches(t, '^-?[0-9]') THEN '"' || t || '"' ELSE t END
), ''), '$.age') AS BIGINT) AS age
FROM patients)
