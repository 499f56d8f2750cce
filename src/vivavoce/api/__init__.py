"""The doors: one file per contract. Thin: parse, call the heart, write."""

from .app import create_app
from .server import serve
from .sources import Role

__all__ = ["Role", "create_app", "serve"]
