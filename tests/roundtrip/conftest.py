"""The yardsticks of `bench/` are the ones the tests measure with."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))
