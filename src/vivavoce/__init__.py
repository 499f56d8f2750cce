"""Real-time voice that a team hosts itself."""

__version__ = "0.1.0"
__all__ = ["__version__"]
