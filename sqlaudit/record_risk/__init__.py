"""How special single records are: minimal sample uniques, SUDA scores, individual risk."""

from sqlaudit.record_risk.search import RecordRequest, find_records
from sqlaudit.records_result import IndividualRisk, RecordRisk, TopRecord

__all__ = ["IndividualRisk", "RecordRequest", "RecordRisk", "TopRecord", "find_records"]
