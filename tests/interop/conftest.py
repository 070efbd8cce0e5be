"""Both ways of reading: the plain one, for small files, and the kernels, for large ones."""

import pytest

from hypermodes.interop import scanning


@pytest.fixture(params=["plain", "kernels"])
def way(request, monkeypatch):
    monkeypatch.setattr(scanning, "LARGE", 0 if request.param == "kernels" else 2**60)
    return request.param
