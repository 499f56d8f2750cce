"""Models on this machine: what there is, and how it gets here."""

from .disk import data_home
from .model import Model, ModelFile, Part
from .progress import OnProgress, Progress
from .registry import MODELS
from .store import FileReport, ModelState, Store

__all__ = [
    "MODELS",
    "FileReport",
    "Model",
    "ModelFile",
    "ModelState",
    "OnProgress",
    "Part",
    "Progress",
    "Store",
    "data_home",
]
