/* sqlaudit: publish_view */
CREATE VIEW "v" AS
SELECT zip FROM patients
