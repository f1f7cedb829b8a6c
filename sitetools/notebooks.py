"""Examples: from py:percent to a page of the site, and to a notebook to download.

An example is executed with mkdocs-jupyter's own settings. What comes back is written as Markdown,
code cells as `python` fences and what they printed as `text` fences, so that an example is
highlighted, linked, checked and coloured exactly as every other page is.
"""

import hashlib
import html
import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Cell = Mapping[str, Any]

STORE_FORMAT = 1
KERNEL_ARGUMENTS = (
    "--InlineBackend.figure_formats=svg",
    "--IPKernelApp.log_level=40",  # errors only: the kernel warns about its local port each time
)
CELL_TIMEOUT = 120
SCALE = 1.25  # drawn in points for a phone, shown a little larger where there is room
HEADER = re.compile(r"\A---\n(?P<yaml>.*?)\n---\s*\Z", re.S)
LEDE = re.compile(r"(?P<h1>^# .+?$)\s*(?P<lede>.*)\Z", re.S | re.M)
ANSI = re.compile(r"\x1b\[[0-9;]*m")

# What examples/matplotlibrc draws in, the light theme, becomes the variables of notebook.css.
COLOURS = {
    "#17212b": "ink",
    "#000000": "ink",
    "#5b6873": "dim",
    "#7f8c97": "edge",
    "#d9e0e5": "line",
    "#ffffff": "paper",
    "#0b5a78": "fwd",
    "#c8721a": "bwd",
}


class ExampleError(Exception):
    """An example that cannot be published; the message names the file, the cell and what to do."""


@dataclass
class Example:
    """One example: its source file, its front matter and its cells."""

    path: Path
    name: str
    """The path as messages and pages show it: `examples/custom_relu.py`."""
    meta: dict[str, Any]
    cells: list[Any]
    notebook: Any = field(repr=False)


def read(path: Path, root: Path) -> Example:
    """Read an example; its first lines are YAML front matter with a title and a description.

    Raises:
        ExampleError: where the front matter is missing or lacks one of the two.
    """
    import jupytext
    import yaml

    name = path.relative_to(root).as_posix()
    notebook = jupytext.read(path, fmt="py:percent")
    cells = list(notebook.cells)
    header = HEADER.match(cells[0].source) if cells and cells[0].cell_type == "raw" else None
    meta = yaml.safe_load(header["yaml"]) if header else None
    for key in ("title", "description"):
        if not isinstance(meta, dict) or not isinstance(meta.get(key), str):
            raise ExampleError(
                f"{name}:1: no '{key}' in the front matter; "
                f"start the file with '# ---', '# {key}: …', '# ---'"
            )
    notebook.cells = cells[1:]
    for number, cell in enumerate(notebook.cells, 1):
        cell["id"] = f"cell-{number:02d}"  # jupytext draws random ones
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    return Example(path, name, dict(meta or {}), notebook.cells, notebook)


def key(path: Path, package: Path, torch_version: str) -> str:
    """Return the hash of what an example's outputs depend on: itself, the package, torch."""
    digest = hashlib.sha256(torch_version.encode())
    sources = sorted(p for p in package.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    for source in [path, *sources]:
        content = source.read_bytes()
        label = source.name if source == path else source.relative_to(package).as_posix()
        digest.update(f"\0{label}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def execute(example: Example, options: Mapping[str, Any]) -> None:
    """Run the cells in a fresh kernel, with the options given to mkdocs-jupyter; keep the outputs.

    Raises:
        ExampleError: for a cell that fails, naming it.
    """
    from mkdocs_jupyter.convert import get_nbconvert_app
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from nbconvert.preprocessors import ExecutePreprocessor

    reached = 0

    def started(cell: Cell, cell_index: int) -> None:
        nonlocal reached
        reached = cell_index

    app = get_nbconvert_app(
        execute=True,
        kernel_name=options.get("kernel_name", ""),
        allow_errors=options.get("allow_errors", False),
    )
    runner = ExecutePreprocessor(
        config=app.config,
        timeout=CELL_TIMEOUT,
        extra_arguments=list(KERNEL_ARGUMENTS),
        on_cell_execute=started,
    )
    # In its own folder, so that matplotlib finds the matplotlibrc beside the example.
    resources = {"metadata": {"path": str(example.path.parent)}}
    try:
        runner.preprocess(example.notebook, resources)
    except CellExecutionError as error:
        said = example.cells[reached]["outputs"][-1]
        trace = ANSI.sub("", "\n".join(said["traceback"]))
        lines = re.findall(r"^Cell In\[\d+\], line (\d+)", trace, re.M)
        where = place(example, reached, int(lines[0]) - 1 if lines else 0)
        raise ExampleError(f"{where} fails: {error.ename}: {error.evalue}\n{trace}") from None
    except CellTimeoutError:
        raise ExampleError(
            f"{place(example, reached)} has not ended after {CELL_TIMEOUT} s; shorten it"
        ) from None
    except DeadKernelError:
        raise ExampleError(
            f"{place(example, reached)} ends its Python process; run the file to see why"
        ) from None


def place(example: Example, index: int, offset: int = 0) -> str:
    """Return `examples/x.py:31: cell 4`, for messages; `offset` counts lines inside the cell."""
    text = example.path.read_text(encoding="utf-8").splitlines()
    line = 0
    for cell in example.cells[: index + 1]:
        # Each cell is found after the one before it, since cells can begin alike.
        first = cell["source"].partition("\n")[0]
        seen = [n for n, t in enumerate(text, 1) if n > line and t.removeprefix("# ") == first]
        line = seen[0] if seen else line
    return f"{example.name}:{line + offset}: cell {index + 1}"


def store(path: Path, example: Example, digest: str) -> None:
    """Keep the executed cells for the next build; the file is replaced at once or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "format": STORE_FORMAT,
        "key": digest,
        "outputs": [c.get("outputs", []) for c in example.cells],
    }
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(record, file)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def reuse(path: Path, example: Example, digest: str) -> bool:
    """Give the cells their kept outputs; False where there are none, or the file is damaged."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if (record["format"], record["key"]) != (STORE_FORMAT, digest):
            return False
        for cell, outputs in zip(example.cells, record["outputs"], strict=True):
            if cell["cell_type"] == "code":
                for output in outputs:
                    _ = output["output_type"]
                cell["outputs"] = outputs
    except (OSError, ValueError, LookupError, TypeError):
        return False
    return True


def page(example: Example, download: str, source: str) -> tuple[str, dict[str, str]]:
    """Return the example as Markdown, and its figures: placeholder in that Markdown → inline SVG.

    Args:
        example: The executed example.
        download: Where the notebook is, relative to the example.
        source: The Markdown that names the source file.

    Raises:
        ExampleError: for output that cannot be shown, and for a figure without its alt text.
    """
    parts: list[str] = []
    figures: dict[str, str] = {}
    for index, cell in enumerate(example.cells):
        if cell["cell_type"] == "markdown":
            parts.append(cell["source"].strip())
            if not index:
                link = f'[Download notebook (.ipynb)]({download}){{download=""}}'
                parts.append(f"{link} · {source}\n{{.notebook-meta}}")
        elif cell["cell_type"] == "code" and cell["source"].strip():
            parts.append(fence(f'python {{data-source="{example.name}"}}', cell["source"]))
            parts += shown(example, index, figures)
    return "\n\n".join(parts) + "\n", figures


def shown(example: Example, index: int, figures: dict[str, str]) -> list[str]:
    """Return what a cell printed and drew, as Markdown; each drawing is added to `figures`."""
    cell, where = example.cells[index], place(example, index)
    given = cell["metadata"].get("alt", [])
    alts = [given] if isinstance(given, str) else list(given)
    printed, blocks = "", []
    for output in cell.get("outputs", []):
        kind, data = output["output_type"], output.get("data", {})
        if kind == "stream" and output["name"] == "stdout":
            printed += output["text"]
        elif kind == "stream":
            raise ExampleError(
                f"{where} writes to stderr; a page shows none of it:\n{output['text'].strip()}"
            )
        elif kind == "error":
            raise ExampleError(f"{where} fails: {output['ename']}: {output['evalue']}")
        elif kind == "execute_result":
            raise ExampleError(f"{where} ends in a value; print it, as a script would not show it")
        elif "image/svg+xml" in data:
            alt = alts.pop(0).strip() if alts else ""
            if not alt:
                raise ExampleError(
                    f"{where} draws a figure without an alt text; "
                    'begin the cell with # %% alt="What the figure shows."'
                )
            name = f"{example.path.stem.replace('_', '-')}-figure-{len(figures) + 1}"
            blocks.append(f'<div class="notebook-figure" id="{name}"></div>')
            figures[blocks[-1]] = figure(data["image/svg+xml"], alt, name, where)
        else:
            raise ExampleError(
                f"{where} shows {', '.join(data) or kind}; a page takes printed text and figures"
            )
    if alts:
        raise ExampleError(f"{where} has {len(alts)} alt text(s) more than figures; remove them")
    text = [fence('text title="Output"', printed)] if printed.strip() else []
    return text + blocks


def fence(info: str, text: str) -> str:
    """Return a fenced block whose fence is longer than any inside."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{info}\n{text.rstrip()}\n{ticks}"


def figure(svg: str, alt: str, name: str, where: str) -> str:
    """Return matplotlib's SVG fit to stand in the page: named, small, and in the theme's colours.

    Raises:
        ExampleError: for a colour that the two themes have no variable for.
    """
    svg = re.sub(
        r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.S
    )
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.S)  # it would style the whole page
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    if not size:
        raise ExampleError(f"{where} draws an SVG without a viewBox")
    width, height = (float(n) for n in size.groups())
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', svg))

    def identifier(match: re.Match[str]) -> str:
        return f' id="{name}-{match[1]}"' if match[1] in used else ""

    def colour(match: re.Match[str]) -> str:
        token = COLOURS.get(match[2].lower())
        if token is None:
            raise ExampleError(
                f"{where} draws in {match[2]}, which has no pendant in the other theme; "
                "use C0, C1 or C2, see examples/matplotlibrc"
            )
        return f"{match[1]}var(--notebook-{token})"

    svg = re.sub(r' id="([^"]+)"', identifier, svg)
    svg = re.sub(r'(href="|url\()#', rf"\1#{name}-", svg)
    svg = re.sub(r"((?:fill|stroke): ?)(#[0-9a-fA-F]{6})\b", colour, svg)
    svg = re.sub(r"font: ?([\d.]+)px [^;\"]+", r"font-size: \1px", svg)
    svg = re.sub(r"font-family: [^;\"]+;? ?", "", svg)  # the page's own
    svg = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", svg)
    svg = re.sub(r"-?\d+\.\d{2,}", lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), svg)
    svg = re.sub(r"\s*\n\s*", " ", svg)
    svg = re.sub(r">\s+<", "><", svg).strip()
    svg = re.sub(r"<defs/>|<defs></defs>", "", svg)
    head = (
        f'<svg class="notebook-figure" role="img" aria-labelledby="{name}-title" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width * SCALE:.0f}" height="{height * SCALE:.0f}">'
        f'<title id="{name}-title">{html.escape(alt, quote=False)}</title>'
    )
    return re.sub(r"<svg[^>]*>", lambda _: head, svg, count=1).replace("xlink:href", "href")


def notebook(example: Example, link: Callable[[str], str | None]) -> str:
    """Return the example as an .ipynb without outputs, the same bytes on every build.

    Args:
        example: The example.
        link: Gives the address for a relative link's target, or None where it has no public one.
    """
    import copy

    import nbformat

    result = copy.deepcopy(example.notebook)
    result.metadata.pop("jupytext", None)
    result.nbformat, result.nbformat_minor = 4, 5
    for cell in result.cells:
        cell.metadata.pop("lines_to_next_cell", None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.metadata.pop("execution", None)
        else:
            text = re.sub(r"[ \t]*\n?\{:? ?[.#][^}\n]*\}[ \t]*$", "", cell.source, flags=re.M)
            cell.source = re.sub(
                r"(?<!!)\[([^\]\n]+)\]\(([^)\s]+)\)", lambda m: _linked(m, link), text
            ).strip()
    nbformat.validate(result)
    return str(nbformat.writes(result)) + "\n"


def _linked(match: re.Match[str], link: Callable[[str], str | None]) -> str:
    text, target = match.groups()
    if re.match(r"[a-z]+:|#", target):
        return match[0]
    address = link(target)
    return f"[{text}]({address})" if address else str(text)
