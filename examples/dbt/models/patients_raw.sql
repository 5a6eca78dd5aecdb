-- what must not leave the house: ages and ZIP codes as they are
select age, sex, zip, diagnosis, days
from {{ ref('patients') }}
