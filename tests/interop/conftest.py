"""Both ways of reading: files of many pieces, as large ones are, and files of one."""

import pytest

from interop.documents import WAYS, reading_by


@pytest.fixture(params=WAYS)
def way(request):
    with reading_by(request.param):
        yield request.param
