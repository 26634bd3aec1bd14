"""Brings into the site what lies outside docs/: the README, results, examples, notebooks.

Comes in: MkDocs' configuration and pages. Goes out: more pages, a longer navigation, and links that
lead to a file of the repository turned into links to its page.
"""

import ast
import base64
import json
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(!?)\[([^\]\[]*(?:\[[^\]]*\][^\]\[]*)*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
CODE = re.compile(r"(```.*?```|`[^`]*`)", re.DOTALL)
HOME = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
NOT_SHOWN = ("src/", "tests/", "benchmarks/", "results/runs/")
"""Folders of the repository that have no pages: what links there is shown as plain text."""


# Pages --------------------------------------------------------------------------------------------


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Adds to the navigation what is found in folders."""
    sections = {name: part for entry in config.nav for name, part in entry.items()}
    sections["Recipes"] += [
        {path.stem.replace("_", " "): f"recipes/{path.stem}.md"} for path in examples()
    ]
    by_folder: dict[str, list[str]] = {}
    for name in results(".md"):
        if name != "results/README.md":
            by_folder.setdefault(posixpath.dirname(name), []).append(site_path(name))
    sections["Results"] += by_folder.pop("results", [])
    for folder, names in by_folder.items():
        first = [name for name in names if name.endswith("index.md")]
        rest = [name for name in names if name not in first]
        sections["Results"].append({posixpath.basename(folder): first + rest})
    (decisions,) = (entry for entry in sections["Project"] if isinstance(entry, dict))
    decisions["Decisions"] += [f"decisions/{path.name}" for path in all_decisions()]
    named = str(config.nav)
    sections["Guides"] += [
        path.name for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in named
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that lie outside docs/ or are made from something else."""
    pages = {site_path(name): (ROOT / name).read_text() for name in HOME}
    for name in results(".md"):
        pages[site_path(name)] = (ROOT / name).read_text()
    for path in examples():
        pages[f"recipes/{path.stem}.md"] = recipe(path)
    pages["recipes/index.md"] = (ROOT / "examples/README.md").read_text()
    pages["decisions/index.md"] = listing("Decisions", all_decisions())
    for path in (ROOT / "docs/notebooks").glob("*.ipynb"):
        text, pictures = notebook(path)
        pages[f"notebooks/{path.stem}.md"] = text
        for name, data in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=data))
    for uri, text in pages.items():
        files.append(File.generated(config, uri, content=text))
    for name in results(".json", ".jsonl", ".png", ".svg", ".gif"):
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def results(*kinds: str) -> list[str]:
    """The names of files of evidence, from the root of the repository."""
    found = sorted((ROOT / "results").rglob("*"))
    names = [path.relative_to(ROOT).as_posix() for path in found if path.suffix in kinds]
    return [name for name in names if not name.startswith(NOT_SHOWN)]


def examples() -> list[Path]:
    """The recipes' files."""
    return sorted((ROOT / "examples").glob("*.py"))


def all_decisions() -> list[Path]:
    """The decisions' files, in their order."""
    return sorted((ROOT / "docs/decisions").glob("*.md"))


def listing(title: str, paths: list[Path]) -> str:
    """A page of links to pages, by their titles."""
    lines = [f"- [{first_line(path.read_text()).strip('# ')}]({path.name})" for path in paths]
    return f"# {title}\n\n" + "\n".join(lines) + "\n"


def first_line(text: str | None) -> str:
    """The title of a page, the first sentence of a docstring."""
    return (text or "").partition("\n")[0]


# Recipes and notebooks ----------------------------------------------------------------------------


def recipe(path: Path) -> str:
    """An example as a page: what its docstring says, its code, what it printed."""
    code = path.read_text()
    title, _, rest = (ast.get_docstring(ast.parse(code)) or "").partition("\n")
    body = code.split('"""', 2)[2].strip()
    commands, *prose = rest.strip().split("\n\n")
    said = "\n\n".join(prose)
    page = f"# {title.rstrip('.')}\n\n`examples/{path.name}`\n\n```\n{commands}\n```\n\n{said}\n\n"
    page += f"```python\n{body}\n```\n"
    printed = ROOT / "results/recipes" / f"{path.stem}.txt"
    if printed.exists():
        page += f"\nWhat it printed:\n\n```\n{printed.read_text().strip()}\n```\n"
    return page


def notebook(path: Path) -> tuple[str, dict[str, bytes]]:
    """A notebook as Markdown, with the pictures it shows; its outputs are those kept in it."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for number, cell in enumerate(json.loads(path.read_text())["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                name = f"{path.stem}-{number}.png"
                pictures[name] = base64.b64decode("".join(data["image/png"]))
                parts.append(f"![what the cell above drew]({name})")
            else:
                text = "".join(output.get("text", data.get("text/plain", "")))
                parts.append(f"```\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n", pictures


# Links --------------------------------------------------------------------------------------------


def site_path(name: str) -> str:
    """Where a file of the repository stands in the site."""
    if name == "README.md":
        return "index.md"
    if posixpath.basename(name) == "README.md":
        name = posixpath.join(posixpath.dirname(name), "index.md")
    if name.rstrip("/") in ("docs/decisions", "examples", "docs/api") or (ROOT / name).is_dir():
        name = f"{name.rstrip('/')}/index.md"
    if name.startswith("examples/"):
        return name.replace("examples/", "recipes/", 1).replace(".py", ".md")
    if name.startswith("docs/"):
        return name.removeprefix("docs/").replace(".ipynb", ".md")
    return name


def repository_folder(page: str) -> str:
    """The folder of the repository in which the file behind a page stands."""
    folder = posixpath.dirname(page)
    if page == "index.md" or page in HOME or page.startswith("results/"):
        return folder
    return "examples" if folder == "recipes" else posixpath.join("docs", folder).rstrip("/")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns links between files of the repository into links between pages."""
    here = page.file.src_uri
    if here == "decisions/index.md":
        return markdown

    def turned(match: re.Match[str]) -> str:
        picture, text, target, anchor = match.groups()
        if re.match(r"\w+:|/", target):
            return match[0]
        wanted = posixpath.normpath(posixpath.join(repository_folder(here), target))
        if f"{wanted}/".startswith(NOT_SHOWN):
            return text
        uri = posixpath.relpath(site_path(wanted), posixpath.dirname(here) or ".")
        return f"{picture}[{text}]({uri}{anchor or ''})"

    pieces = CODE.split(markdown)
    return "".join(p if i % 2 else LINK.sub(turned, p) for i, p in enumerate(pieces))
