"""Keep the proof of code in which only names have changed: ``python ci/rekey.py REVISION at=release …``.

A rule's fingerprint changes with every name in its code, so a rename voids the proof, although no answer changes. This
program compares the code of each rule, and of its mutants, at REVISION with the code in the working tree. Where the two
are equal but for the given names, the records get the new fingerprint in place of the old one; if no rule differs in more,
so does the certificate's of the whole reference.

A rename can change an answer if it makes one name of two: ``at`` becomes ``release`` where ``release`` was there before.
So the names in a definition have to correspond one to one; otherwise the rule's records stay void.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import click

from kafka_conformance.generated_mutants.population import Population
from kafka_conformance.generated_mutants.record import fingerprint_of
from kafka_conformance.rules import RULES
from kafka_conformance.verify.fingerprint import (
    Sources,
    fingerprint,
    fingerprinted_sources,
    installed_sources,
    mutants_fingerprint,
    mutants_sources,
    read_sources,
)  # fmt: skip
from kafka_reference.certificate import certificate, reference_fingerprint
from kafka_reference.proven import proven_releases

__all__ = ["differing_definition"]

ROOT = Path(__file__).parents[1]
RECORDS = (
    "reference/kafka_reference/certificate.json",
    "kit/kafka_conformance/verify/mutants/record.json",
    "kit/kafka_conformance/verify/coverage/record.json",
    "kit/kafka_conformance/generated_mutants/record.json",
)
_NAME = re.compile(r"\b(?:id|arg|attr|name|asname)='(\w+)'")
"""A name in the text of :func:`kafka_reference.certificate.dump_code`."""
_CONSTANT = re.compile(r"""\bvalue=(b?(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"))""")
"""A text in it, which may look like a name."""


@click.command(help=__doc__)
@click.argument("revision")
@click.argument("renames", nargs=-1, required=True, metavar="OLD=NEW...")
def main(revision: str, renames: tuple[str, ...]) -> None:
    """Replace the fingerprints of rules whose code differs in names alone."""
    if wrong := [one for one in renames if not re.fullmatch(r"\w+=\w+", one)]:
        raise click.UsageError(f"{wrong[0]!r} is not OLD=NEW, such as at=release")
    new_names = dict(one.split("=") for one in renames)
    before, after = _sources_at(revision), installed_sources()
    population, replaced, is_void = Population(proven_releases()), {}, False
    for rule in RULES.values():
        for what, digest, code in (
            (rule.slug, fingerprint, fingerprinted_sources),
            (f"mutants of {rule.slug}", mutants_fingerprint, mutants_sources),
        ):
            old, new = digest(rule, before), digest(rule, after)
            if old != new:
                differs = differing_definition(code(rule, before), code(rule, after), new_names)
                click.echo(f"{what}: {f'{differs} differs in more than these names' if differs else 'names alone'}")
                replaced |= {} if differs else {old: new}
                is_void = is_void or bool(differs)
                if code is fingerprinted_sources and not differs:
                    made = population.of(rule.slug)
                    replaced[fingerprint_of(rule.slug, made, old)] = fingerprint_of(rule.slug, made, new)
    if not is_void:
        replaced[certificate().reference_sha256] = reference_fingerprint()
    for name in RECORDS:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        path.write_text(
            re.sub(r"\b[0-9a-f]{64}\b", lambda match: replaced.get(match[0], match[0]), text), encoding="utf-8"
        )


def differing_definition(before: Mapping[str, str], after: Mapping[str, str], new_names: Mapping[str, str]) -> str:
    """Return the first definition that differs in more than the names that were given new ones, or an empty string.

    ``before`` and ``after`` have the code of each definition by ``module:name``.
    """
    renamed = {key if key in after else _renamed_key(key, new_names): text for key, text in before.items()}
    for key in sorted({*renamed, *after}):
        if key not in renamed or key not in after or not _correspond(renamed[key], after[key], new_names):
            return key
    return ""


def _renamed_key(key: str, new_names: Mapping[str, str]) -> str:
    return re.sub(r"\w+", lambda match: new_names.get(match[0], match[0]), key)


def _correspond(old: str, new: str, new_names: Mapping[str, str]) -> bool:
    old, new = (_CONSTANT.sub(lambda match: f"value={match[1].encode().hex()}", text) for text in (old, new))
    if _NAME.sub("", old) != _NAME.sub("", new):
        return False
    pairs = set(zip(_NAME.findall(old), _NAME.findall(new), strict=True))
    one_to_one = len({first for first, _ in pairs}) == len(pairs) == len({second for _, second in pairs})
    return one_to_one and all(second in (first, new_names.get(first)) for first, second in pairs)


def _sources_at(revision: str) -> Sources:
    packed = subprocess.run(
        ["git", "archive", revision, "reference", "kit", "jars"], cwd=ROOT, capture_output=True, check=False
    )
    if packed.returncode:
        sys.exit(f"rekey: {packed.stderr.decode(errors='replace').strip()}")
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
        root = Path(folder)
        kit, oracle = root / "kit" / "kafka_conformance", root / "jars" / "kafka_jars" / "oracle" / "release"
        return read_sources(root / "reference" / "kafka_reference", kit, oracle)


if __name__ == "__main__":
    main()
