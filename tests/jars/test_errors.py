from __future__ import annotations

import pickle

from kafka_jars import errors


def test_jar_changed_error_message_names_path_and_both_sha256_with_hint_to_delete() -> None:
    changed = errors.JarChanged("/cache/jars/a.jar", "00" * 32, "ff" * 32)
    assert str(changed) == (
        f"/cache/jars/a.jar is not the jar that was pinned: expected sha256 {'00' * 32}, found {'ff' * 32};"
        " delete the file to fetch it again, or find out what changed it"
    )
    assert (changed.what, changed.expected, changed.found) == ("/cache/jars/a.jar", "00" * 32, "ff" * 32)


def test_all_jar_errors_derive_from_jar_error() -> None:
    assert all(issubclass(getattr(errors, name), errors.JarError) for name in errors.__all__)


def test_pickled_jar_changed_error_keeps_message_and_found_sha256() -> None:
    error = errors.JarChanged("a.jar", "ab", "cd")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  what was dumped in the same line
    assert (type(again), str(again), again.found) == (errors.JarChanged, str(error), "cd")
