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
# Raised only together with something that the lab can do since, never for another way to do the same.
MOST_STATEMENTS = 20_400
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
    """The number of AST statements in `lab`."""
    trees = [ast.parse(path.read_text()) for path in modules().values()]
    return sum(isinstance(node, ast.stmt) for tree in trees for node in ast.walk(tree))


def test_the_lab_does_not_grow_unnoticed() -> None:
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
