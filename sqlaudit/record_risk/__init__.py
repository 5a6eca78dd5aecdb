"""How special single records are: minimal sample uniques, SUDA scores, individual risk."""

from sqlaudit.record_risk.results import IndividualRisk, RecordRisk, TopRecord
from sqlaudit.record_risk.search import RecordRequest, find_records

__all__ = ["IndividualRisk", "RecordRequest", "RecordRisk", "TopRecord", "find_records"]
