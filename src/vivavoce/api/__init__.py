"""The doors: one file per contract. Thin: parse, call the heart, write."""

from .app import create_app
from .server import serve

__all__ = ["create_app", "serve"]
