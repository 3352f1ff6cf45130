import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "datasets.md"


def test_examples_of_the_page_run():
    # One session for the whole page: later examples use names of earlier ones.
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, str(PAGE), 0)
    results = doctest.DocTestRunner().run(test)
    assert results.attempted > 10
    assert results.failed == 0
