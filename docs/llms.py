"""A page for language models: `llms.txt` lists the pages by section, each with its first sentence and its text.

The format is that of https://llmstxt.org. Pages are linked by their sources, which are plain Markdown.
"""

import re
from pathlib import Path


def sections(index):
    r"""Return the pages of each captioned list of contents on the first page.

    Examples
    --------
    >>> sections("```{toctree}\n:hidden:\n:caption: Guide\n\nquick-start\nwhy\n```")
    {'Guide': ['quick-start', 'why']}
    """
    found = {}
    for block in re.findall(r"```\{toctree\}\n(.*?)```", index, flags=re.DOTALL):
        caption = re.search(r":caption: (.+)", block)
        pages = [line.strip() for line in block.splitlines() if line.strip() and not line.startswith(":")]
        found[caption[1] if caption else "Pages"] = pages
    return found


def first_sentence(page):
    r"""Return the first sentence below the title of a page in Markdown, without links.

    Examples
    --------
    >>> first_sentence("# Title\n\nIt [selects](a.md) features. And more.")
    'It selects features.'
    """
    paragraphs = [part for part in page.split("\n\n") if re.match(r"[\w*`\[]", part.strip())]
    if not paragraphs:
        return ""
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(paragraphs[0].split()))
    return re.split(r"(?<=\.) ", text.replace("**", ""))[0].rstrip(":")


def text(docs, description):
    """Return the content of llms.txt for a folder of pages."""
    lines = ["# ppfs", "", f"> {description}", ""]
    for caption, pages in sections((docs / "index.md").read_text(encoding="utf-8")).items():
        lines += [f"## {caption}", ""]
        for page in pages:
            path = docs / f"{page}.md"
            if path.is_file():
                content = path.read_text(encoding="utf-8")
                title = content.splitlines()[0].removeprefix("# ")
                lines.append(f"- [{title}](_sources/{page}.md.txt): {first_sentence(content)}")
        lines.append("")
    return "\n".join(lines)


def write(app, error):
    """Write llms.txt into the site."""
    if error is None and app.builder.name == "html":
        place = Path(app.outdir) / "llms.txt"
        place.write_text(text(Path(app.srcdir), app.config.html_context["description"]), encoding="utf-8")
