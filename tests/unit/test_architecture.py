"""The structure of `lab/`: its packages, what each may import, and that only a target's own folder knows its name."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from lab.cli import LAB
from lab.load import GENERATORS

ROOT = Path(__file__).resolve().parents[2]
LAB_FOLDER = ROOT / "lab"
MOST_LOOSE_FILES = 5
# At f411f24, before the restructuring.
MOST_STATEMENTS = 10_768
# What the lab can do since: the target and the generators that came with the restructuring; alternating slices, and
# waiting until systems have settled; equal rates side by side, and the cost of a complete set; `lab check`,
# `lab combine`, `lab compare` and `lab keep`; what verdicts and findings exclude; claims about a number that is not
# stated; correlated blocks; RSS, page cache and the memory of filled backends; what an overhead consists of.
NEW = (
    "target/collector",
    "target/measuring.py",
    # What targets of traces share: what is sent, its delays, and checks of the generator.
    "target/traffic.py",
    "target/delays.py",
    "target/generated.py",
    "target/ended.py",
    "target/searched.py",
    # Stores of traces, and their traces looked up by ID.
    "target/store",
    "backend/by_id.py",
    "target/proxy",
    # Benchmarks of spans in a JVM of their own (JMH), their record, and what is required of streamed spans.
    "target/jmh",
    "record/jmh.py",
    "analysis/span_costs.py",
    # An adjustment must lessen the scatter between trials.
    "analysis/stats/scatter.py",
    "analysis/span_pipeline.py",
    # What is done while a load is sent: faults, and values of Envoy's runtime that change.
    "engine/meanwhile.py",
    # What all targets do while containers start.
    "engine/starting.py",
    # Waiting for the scraper of Collectors, which targets and the generator of traces do.
    "engine/scraped.py",
    "load/telemetrygen.py",
    "load/open_loop.py",
    # A closed loop without pauses, and what it shares with the open one.
    "load/fortio.py",
    "load/timed.py",
    "load/nighthawk.py",
    "run/alternating.py",
    "run/turns.py",
    "run/settling.py",
    "run/at_rate.py",
    "run/ordered.py",
    "run/warming.py",
    "run/cost.py",
    "analysis/metrics/alternating.py",
    "analysis/metrics/burn.py",
    "analysis/checklist.py",
    # Tracers that count what became of their spans.
    "analysis/ledger.py",
    "analysis/known_answer.py",
    # A ratio of overheads, for known_answer and span_pipeline.
    "analysis/overheads.py",
    "analysis/repeated.py",
    # What is required of `steady`; the append-only list of an experiment's runs.
    "analysis/steady_state.py",
    # Whether several ways to run find the same ratios.
    "analysis/ways.py",
    "run/attempts.py",
    # The cost of each slice, in place of raw records.
    "record/slices.py",
    "command/slices.py",
    # Sets that Ctrl-C does not cut in two.
    "run/uninterrupted.py",
    "analysis/effects.py",
    "analysis/components.py",
    "command/expected.py",
    "report/checklist.py",
    "command/check.py",
    "analysis/designs.py",
    "analysis/runs.py",
    "analysis/two_runs.py",
    "command/keep.py",
    "command/runs.py",
    "record/combined.py",
    "report/runs.py",
    "spec/design.py",
    # Some levels of an experiment only.
    "spec/only.py",
    "analysis/metrics/backends.py",
    "analysis/claims/excluded.py",
    "analysis/claims/tested.py",
    "analysis/claims/match.py",
    "analysis/claims/matched.py",
    "analysis/claims/swept.py",
    "analysis/stats/margins.py",
    "report/sameness.py",
    # Blocks that are correlated, and what is chance in the effect of places.
    "analysis/stats/serial.py",
    "analysis/stats/places.py",
    "analysis/metrics/memory.py",
    "analysis/sets.py",
    "report/overhead.py",
    "report/swept.py",
    # What a Collector can take: traces that are sent, come back, and are matched.
    "load/traces.py",
    "record/traces.py",
    "analysis/metrics/bounds.py",
    # How much a Collector can take: sampling by trace ID, swings, the capacity model, the search for a rate.
    "analysis/collector",
    "analysis/searches.py",
    # How precisely a run shows what Envoy's tracers cost; what requests feel of a sick receiver; which rate is held.
    "analysis/tracing_costs.py",
    "analysis/sick_receivers.py",
    "analysis/generator_rates.py",
    "load/rate_search.py",
    "command/model.py",
    "report/capacity.py",
    # What became of traces over time, and what the first error follows.
    "report/courses.py",
    "report/first_error.py",
    "report/loads.py",
    "report/figures/courses.py",
    "command/stand_ins.py",
    "load/objective.py",
    "load/traces_schedules.py",
    "load/traces_search.py",
    "record/search.py",
    # A system that runs, is changed meanwhile, and has a fault that expires. Before, `lab up` only started one.
    "command/up.py",
    "command/choice.py",
    "command/exploring.py",
    "command/running.py",
    "command/held_fault.py",
    "command/detached.py",
    "engine/keeping.py",
    "spec/example.py",
    "target/mesh/example.py",
    # Images and packages in one file, for machines without a network.
    "command/bundle.py",
    "engine/archive.py",
    "engine/image_archive.py",
    # Several endpoints that take a tracer's spans, the faults of one of them, and who got how many spans.
    "backend/collectors.py",
    "fault/planes.py",
    "fault/sink.py",
    "fault/kinds/answer_delay.py",
    "target/mesh/faulty.py",
    "target/scraping.py",
    "analysis/metrics/endpoints.py",
    "report/endpoint_courses.py",
    "report/endpoint_figure.py",
    "report/endpoints.py",
    # Its page: a server on the host, figures while it runs, switches; the guard of Envoy's administration pages.
    "page",
    "command/serving.py",
    "command/locked.py",
    "backend/recent.py",
    "target/guarded.py",
    "target/mesh/picture.py",
    "target/mesh/switches.py",
    # Exercises: whether a student's run agrees with itself, its answers, and an archive to hand in.
    "grading",
    "command/grading.py",
    # What `lab keep` compared alone, and grading does, too.
    "record/same.py",
)
CONTRACT_MAY_IMPORT = ("lab.contract", "lab.spec", "lab.record")


def modules() -> dict[str, Path]:
    """Every module of `lab` by its dotted name; a package's is that of its folder."""
    return {dotted(path): path for path in sorted(LAB_FOLDER.rglob("*.py"))}


def dotted(path: Path) -> str:
    parts = path.relative_to(LAB_FOLDER.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.AST, module: str, is_package: bool, known: Mapping[str, object]) -> Iterator[str]:
    """Yield the modules of `known` that a module imports, also relatively and inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: None if is_package and node.level == 1 else -node.level + is_package]
            base = ".".join([*above, *([node.module] if node.module else [])]) if node.level else node.module or ""
            # `from package import name`: the name may be a module.
            names = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names]
        else:
            continue
        yield from (name for name in names if name in known)


@cache
def arrows() -> dict[str, set[str]]:
    """Which modules each module of `lab` imports."""
    known = modules()
    return {
        module: set(imported(ast.parse(path.read_text()), module, path.name == "__init__.py", known))
        for module, path in known.items()
    }


def of_packages(found: Mapping[str, set[str]], depth: int) -> dict[str, set[str]]:
    """The arrows between packages whose names have `depth` parts; a loose file counts as one."""
    between: dict[str, set[str]] = {}
    for module, others in found.items():
        package = ".".join(module.split(".")[:depth])
        between.setdefault(package, set()).update(".".join(other.split(".")[:depth]) for other in others)
    return {package: others - {package} for package, others in between.items()}


def circles(graph: Mapping[str, set[str]]) -> set[str]:
    """Return the nodes from which a way leads back to themselves."""

    def reached(start: str) -> set[str]:
        found, waiting = set[str](), [start]
        while waiting:
            for other in graph.get(waiting.pop(), set()) - found:
                found.add(other)
                waiting.append(other)
        return found

    return {node for node in graph if node in reached(node)}


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_no_circular_imports(depth: int) -> None:
    """Between the packages of `lab`, their sub-packages, and modules."""
    assert circles(of_packages({m: o for m, o in arrows().items() if m != "lab"}, depth)) == set()


def test_a_circle_is_found_whatever_the_import_looks_like() -> None:
    known = {"lab.one": None, "lab.one.a": None, "lab.two": None, "lab.two.b": None}
    assert list(imported(ast.parse("from lab.two import b"), "lab.one.a", False, known)) == ["lab.two.b"]
    assert list(imported(ast.parse("from ..two import b"), "lab.one.a", False, known)) == ["lab.two.b"]
    assert list(imported(ast.parse("from ..two.b import x"), "lab.one", True, known)) == ["lab.two.b"]
    assert list(imported(ast.parse("from .a import x"), "lab.one", True, known)) == ["lab.one.a"]
    assert list(imported(ast.parse("def f():\n import lab.two.b"), "lab.one.a", False, known)) == ["lab.two.b"]
    assert circles({"one": {"two"}, "two": {"three"}, "three": {"one"}, "four": {"one"}}) == {"one", "two", "three"}


def test_few_files_beside_the_packages() -> None:
    assert len(list(LAB_FOLDER.glob("*.py"))) <= MOST_LOOSE_FILES


def test_the_contract_imports_only_models_of_spec_and_record() -> None:
    for module, others in arrows().items():
        if module.startswith("lab.contract"):
            assert all(other.startswith(CONTRACT_MAY_IMPORT) for other in others), (module, others)


def statements() -> int:
    """The number of AST statements in `lab`, without the new target and generators."""
    return sum(
        isinstance(node, ast.stmt)
        for path in modules().values()
        if not path.relative_to(LAB_FOLDER).as_posix().startswith(NEW)
        for node in ast.walk(ast.parse(path.read_text()))
    )


def test_no_more_statements_than_before_the_restructuring() -> None:
    assert statements() <= MOST_STATEMENTS


NAMES = {*LAB.targets, *(name for name in GENERATORS)}
"""The names of the registered targets and generators. `none`, no generator, is also a word of other fields."""

HOLDERS = {"target", "load", "schedule", "declaration", "generator"}
SELECTORS = {"kind", "generator", "service"}
# There a name is that of an image, of a Compose service or of a backend.
NAMING_IMAGES = {"TABLE", "BUILD_S", "BACKENDS", "images", "services"}
REGISTRIES = (LAB_FOLDER / "cli.py", LAB_FOLDER / "load" / "__init__.py")


def knows_names(tree: ast.AST, own: tuple[str, ...] = ()) -> list[str]:
    """Return the places where code depends on which target or generator it has: a line and why, each.

    `own`: the dotted names of what the code may know: its own folder or module.
    """
    found = []
    classes = {alias.asname or alias.name for alias in _from_others(tree, own)}
    for node in _without_images_and_docstrings(tree):
        match node:
            case ast.Constant(value=str() as text) if text in NAMES and not own:
                found.append(f"{node.lineno}: the name '{text}'")
            case ast.Compare(left=left, comparators=others) if any(map(_selects, (left, *others))) and not own:
                found.append(f"{node.lineno}: compares which target, load or generator it is")
            case ast.Match(subject=subject, cases=cases):
                if _selects(subject) and not own:
                    found.append(f"{subject.lineno}: matches which target, load or generator it is")
                patterns = [part.cls for case in cases for part in ast.walk(case) if isinstance(part, ast.MatchClass)]
                found += [f"{cls.lineno}: matches a class" for cls in patterns if _mentions(cls, classes)]
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, cls]) if _mentions(cls, classes):
                found.append(f"{node.lineno}: isinstance")
            case ast.Compare(left=ast.Call(func=ast.Name(id="type")), comparators=others) if any(
                _mentions(other, classes) for other in others
            ):
                found.append(f"{node.lineno}: compares a class")
            case ast.Subscript(slice=key) | ast.Call(func=ast.Attribute(attr="get"), args=[key, *_]) if _selects(
                key
            ) and isinstance(_mapping(node), ast.Dict):
                found.append(f"{node.lineno}: dispatches")
    return found


def _from_others(tree: ast.AST, own: tuple[str, ...]) -> Iterator[ast.alias]:
    """Yield what a module imports from targets, generators and schedules other than its own."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or str(node.module).startswith(own):
            continue
        if str(node.module).startswith(("lab.target.", "lab.load.")):
            yield from node.names


def _without_images_and_docstrings(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id in NAMING_IMAGES for target in targets):
                continue
        yield node
        yield from _without_images_and_docstrings(node)


def _selects(node: ast.AST) -> bool:
    """Whether an expression is what distinguishes targets, loads or generators, such as `experiment.target.kind`."""
    if not (isinstance(node, ast.Attribute) and node.attr in SELECTORS):
        return False
    holder = node.value
    return {getattr(holder, "id", ""), getattr(holder, "attr", "")}.intersection(HOLDERS) != set()


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def _mapping(node: ast.Subscript | ast.Call) -> ast.AST:
    return node.value if isinstance(node, ast.Subscript) else getattr(node.func, "value", node)


def own_place(path: Path) -> tuple[str, ...]:
    """Return what a module may know: a target its folder, a generator its module, both the schedules."""
    parts = dotted(path).split(".")
    if parts[:2] == ["lab", "target"] and len(parts) > 2:
        return (".".join(parts[:3]),)
    return (dotted(path), "lab.load.schedule") if parts[:2] == ["lab", "load"] else ()


def test_no_name_of_a_target_or_generator_is_compared() -> None:
    """What differs between them is in their own folders, and reaches others through the interface."""
    found = {
        str(path.relative_to(ROOT)): wrong
        for path in modules().values()
        if path not in REGISTRIES and (wrong := knows_names(ast.parse(path.read_text()), own_place(path)))
    }
    assert found == {}


def test_only_the_command_line_imports_a_target() -> None:
    kinds = {f"lab.target.{folder.name}" for folder in (LAB_FOLDER / "target").iterdir() if folder.is_dir()}
    for module, others in arrows().items():
        targets = {kind for kind in kinds for other in others if other == kind or other.startswith(f"{kind}.")}
        assert module == "lab.cli" or targets <= {".".join(module.split(".")[:3])}, module


HEAD = "from lab.target.mesh.settings import MeshSettings\nfrom lab.load.users import UsersLoad\n"


@pytest.mark.parametrize(
    "code",
    [
        'if experiment.target.kind == "mesh": pass',
        'if name != "mesh": pass',
        'if name in ("mesh", "other"): pass',
        "if target.kind == wanted: pass",
        "if wanted in (load.generator,): pass\nif load.generator in wanted: pass",
        'match name:\n case "ghz": pass',
        "match load.generator:\n case name: pass",
        "match target:\n case MeshSettings(): pass",
        'how = {"locust": 1}[name]',
        "how = {wanted: 1}[declaration.kind]",
        "how = {wanted: 1}.get(context.generator.service)",
        "if isinstance(target, MeshSettings): pass",
        "assert isinstance(load, dict | UsersLoad)",
        "if type(load) is UsersLoad: pass",
        'WHERE = "mesh"',
    ],
)
def test_a_comparison_is_found(code: str) -> None:
    assert knows_names(ast.parse(HEAD + code))


@pytest.mark.parametrize(
    "code",
    [
        '"""mesh"""',
        'def f():\n    "mesh"',
        'TABLE = {"ghz": 1}',
        'class Image:\n    services = ("locust",)',
        "found = targets[experiment.target.kind]",
        "if fault.kind == other.kind: pass",
        'if name == "meshes": pass',
        "if isinstance(name, str): pass",
    ],
)
def test_other_code_is_not(code: str) -> None:
    assert knows_names(ast.parse(HEAD + code)) == []


def test_a_target_may_know_itself_but_no_other() -> None:
    code = ast.parse(HEAD + 'assert isinstance(target, MeshSettings)\nKIND = "mesh"')
    assert knows_names(code, ("lab.target.mesh",)) == []
    code = ast.parse(HEAD + "assert isinstance(load, UsersLoad)")
    assert knows_names(code, ("lab.target.mesh",))
