-- depends on patients_raw: dbt skips it if that fails
select substr(zip, 1, 2) as region, count(*) as patients
from {{ ref('patients_raw') }}
group by 1
