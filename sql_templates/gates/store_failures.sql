/* The failing classes in one run. "key" holds values of the table only when they were asked for. */
CREATE OR REPLACE TABLE store.main.failures (
    "table" TEXT NOT NULL,
    failed_requirements TEXT NOT NULL,
    sensitive TEXT,
    class_size BIGINT NOT NULL,
    class_rows BIGINT NOT NULL,
    classes BIGINT NOT NULL,
    figures TEXT NOT NULL,
    "key" TEXT
);
COMMENT ON TABLE store.main.failures IS {{ marker }};
