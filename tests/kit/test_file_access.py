"""Every door through which a user's file, or text from anywhere, comes in or goes out: the modules that may open one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import kafka_conformance

KIT = Path(kafka_conformance.__file__).parent

# Modules that print: standard streams, rich's console, and one constant line before the streams are there.
_PRINTERS = {"core/streams.py", "core/console.py", "core/interrupts.py"}
# Processes without a command line: workers' results, the supervisor of brokers, spark-submit's standard error.
_OTHER_PROCESSES = {
    "verify/workers.py",
    "generated_mutants/forked_tasks.py",
    "brokers/supervisor_process.py",
    "spark/submit_streams.py",
}

_PRINTS = {"print", "echo", "secho", "Console"}

# Modules that look at files past core/files.py, with the reason.
_OWN_FILES = {
    "core/files.py": "the door itself",
    "core/wall_time.py": "/proc",
    "answerers/driver/descendants.py": "/proc",
    "generated_mutants/mutant_trial.py": "/proc",
    "brokers/supervisor_process.py": "a folder that the run has made",
    "cli/audit_source.py": "a pattern",
    "core/streams.py": "/dev/null",
    "verify/coverage/measurement.py": "ships with the package",
    "answerers/driver/schema.py": "ships with the package",
    "cli/main.py": "ships with the package",
    "findings/__init__.py": "ships with the package",
    "generated_mutants/explanations.py": "ships with the package",
    "generated_mutants/record.py": "ships with the package",
    "reports/page.py": "ships with the package",
    "rules/record_batch/spaces.py": "ships with the package",
    "rules/summaries.py": "ships with the package",
    "wire/client_gate/script.py": "ships with the package",
    "wire/codec/schemas.py": "ships with the package; jars of the cache",
    "verify/coverage/mirrored_code.py": "ships with the package",
    "verify/coverage/record.py": "ships with the package",
    "verify/fingerprint.py": "ships with the package",
    "verify/mutants/record.py": "ships with the package",
    "kit_mistakes/java_half.py": "ships with the package",
    "kit_mistakes/gate_checks.py": "a folder that the run has made",
    "brokers/cluster.py": "a folder that the run has made",
    "replication/live/metadata_log.py": "a folder that the run has made",
    "replication/live/observation.py": "a folder that the run has made",
    "replication/live/zookeeper_log.py": "a folder that the run has made",
    "verify/reference_digests.py": "a folder that the run has made",
    "verify/columns.py": "a folder that the run has made",
    "verify/question_store.py": "a folder that the run has made",
    "gate/reports/writers.py": "GitHub's summary is added to",
    "cli/commands/broker.py": "jars of the cache, checked before",
    "cli/commands/freeze.py": "the file that was just written",
    "spark/submit_streams.py": "/proc",
    "spark/executors.py": "jars of the cache, checked before",
}
# Folders with a policy of their own for the files that they look at.
_OWN_FOLDERS = ("oracle/", "log_inspect/", "audit/", "spark/session.py", "spark/runs.py")
_LOOKS = {
    "exists", "is_file", "is_dir", "is_symlink", "stat", "lstat", "open", "read_bytes", "read_text", "write_bytes",
    "write_text", "iterdir", "glob", "rglob", "touch",
}  # fmt: skip
# Methods of these names that are not of a path.
_OTHER_METHODS = {
    "self._connection.open", "oracle.open", "self.oracle.open", "self._oracle.open", "self.open", "host.open", "Run.open",
    "Copying.open", "self._client.exists", "files.exists",
}  # fmt: skip


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax trees of all modules of the kit."""
    return {path.relative_to(KIT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in KIT.rglob("*.py")}


def _called(tree: ast.AST, names: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the calls of functions and methods that end with one of these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            last = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if last in names:
                yield node.lineno, ast.unparse(node.func)


def _looks(module: str) -> list[str]:
    return [
        f"{module}, line {line}: {name}"
        for line, name in _called(trees()[module], _LOOKS)
        if (name == "open" or "." in name) and name not in _OTHER_METHODS
    ]


def test_modules_print_only_through_core_streams_and_console() -> None:
    found = []
    for module in set(trees()) - _PRINTERS - _OTHER_PROCESSES:
        found += [f"{module}, line {line}: {name}" for line, name in _called(trees()[module], _PRINTS) if name in _PRINTS
                  or name.startswith("click.")]  # fmt: skip
        found += [
            f"{module}, line {node.lineno}: sys.{node.attr}"
            for node in ast.walk(trees()[module])
            if isinstance(node, ast.Attribute)
            and node.attr in {"stdout", "stderr", "stdin"}
            and ast.unparse(node.value) == "sys"
        ]
    assert not found, "use core.streams or core.console, which escape what a terminal would obey"


def test_modules_open_user_files_only_through_core_files() -> None:
    asked = [each for each in trees() if each not in _OWN_FILES and not each.startswith(_OWN_FOLDERS)]
    assert not [line for module in asked for line in _looks(module)], "use core.files, or give a reason in _OWN_FILES"


def test_modules_exempt_from_core_files_exist_and_open_files() -> None:
    assert [module for module in _OWN_FILES if module not in trees() or not _looks(module)] == []
