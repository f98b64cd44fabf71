import build
import rose_core


def test_the_version_has_one_source() -> None:
    assert rose_core.__version__ == build.version()
