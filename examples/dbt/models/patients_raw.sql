-- not for publication: exact ages and ZIP codes
select age, sex, zip, diagnosis, days
from {{ ref('patients') }}
