"""The analyses: simulation, distribution, memory, operations, problems, export preview."""

from ndbplan.desktop.analyses.area import AnalysisArea

__all__ = ["AnalysisArea"]
