"""Hypothesis profiles, and the folder of real data.

``dev`` is the default: the same 50 examples every time. ``HYPOTHESIS_PROFILE=deep`` looks further, at
random, and prints what it takes to repeat a failure.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Neither the clock nor the share of examples that a test passes over decides whether it passes.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much]}
settings.register_profile("dev", derandomize=True, max_examples=50, **_COMMON)
settings.register_profile("deep", max_examples=1000, print_blob=True, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture
def data_folder() -> Path:
    """The folder of real data sets; they may not be redistributed, so they are not part of the project."""
    folder = os.environ.get("HYPERMODES_DATA")
    if not folder:
        pytest.skip("HYPERMODES_DATA is not set: no real data sets to test with")
    if not Path(folder).is_dir():
        pytest.skip(f"HYPERMODES_DATA is {folder!r}, which is not a folder")
    return Path(folder)
