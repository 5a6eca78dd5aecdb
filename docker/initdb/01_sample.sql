-- A fictional hospital with the same 5,000 patients every time. Every value is derived from the patient's number by MD5
-- rather than random(), so the figures in the documentation and the tests do not change.
CREATE SCHEMA clinic;

CREATE TABLE clinic.patients (
    patient_id integer PRIMARY KEY,
    name text NOT NULL,
    age integer NOT NULL,
    sex text NOT NULL,
    region text NOT NULL,
    admitted date NOT NULL,
    diagnosis text
);

INSERT INTO clinic.patients
WITH dice AS (
    SELECT
        number,
        ('x' || substr(md5('age' || number), 1, 7))::bit(28)::integer AS age_die,
        ('x' || substr(md5('sex' || number), 1, 7))::bit(28)::integer AS sex_die,
        ('x' || substr(md5('region' || number), 1, 7))::bit(28)::integer AS region_die,
        ('x' || substr(md5('day' || number), 1, 7))::bit(28)::integer AS day_die,
        ('x' || substr(md5('diagnosis' || number), 1, 7))::bit(28)::integer AS diagnosis_die
    FROM generate_series(1, 5000) AS number
)
SELECT
    number,
    'Patient ' || number,
    18 + age_die % 40 + age_die % 33,                                         -- 18 to 89, mostly in the middle
    CASE WHEN sex_die % 100 < 54 THEN 'female' ELSE 'male' END,
    (ARRAY['north', 'east', 'south', 'west', 'island'])[1 + least(region_die % 9 / 2, 4)],   -- few on the island
    DATE '2024-01-01' + day_die % 366,
    CASE WHEN diagnosis_die % 50 > 0
        THEN (ARRAY['asthma', 'diabetes', 'fracture', 'HIV', 'hypertension', 'influenza', 'migraine'])[1 + diagnosis_die % 7]
    END                                                                        -- one in fifty is unknown
FROM dice;

-- The release: no names, ages in decades, the few youngest and oldest merged with the next decade.
CREATE VIEW clinic.release AS
SELECT
    least(greatest(age, 20), 69) / 10 * 10 AS decade,
    sex,
    region,
    diagnosis
FROM clinic.patients;

ANALYZE clinic.patients;
