/* sqlaudit: release_query_words */
SELECT CAST(words.id AS INTEGER) AS word, CAST(words.id AS INTEGER) AS u, words.row_count
FROM patients AS words
