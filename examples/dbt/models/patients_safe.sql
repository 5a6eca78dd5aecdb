-- the same patients, with ages in two bands and the region in place of the ZIP code
select
    case when age < 50 then '0-49' else '50-99' end as age_group,
    substr(zip, 1, 2) as region,
    diagnosis,
    days
from {{ ref('patients') }}
