/* sqlaudit: read_respelled */
-- which columns of text have values that are equal to their collation and written differently
SELECT
    EXISTS (SELECT 1 FROM patients GROUP BY "a" HAVING min("a" COLLATE "binary") <> max("a" COLLATE "binary")),
    EXISTS (SELECT 1 FROM patients GROUP BY "b" HAVING min("b" COLLATE "binary") <> max("b" COLLATE "binary"))
