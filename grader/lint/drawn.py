"""What shows only when the cases are drawn: points nobody can earn, answers nobody asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .. import telling
from ..build.sound import sound
from ..contract import Case, Either, Exercise, is_float
from ..course import Chapter
from ..judge import STORED_SEED
from ..key import Key, terms
from ..probe.request import CARD
from ..probe.request import asked as sent
from ..refusal import MODES
from ..verdict.compare import BUILT_IN, asked
from . import Fault

Drawn = Sequence[Case]


def drawn(chapter: Chapter) -> Iterator[Fault]:
    """Parts and cases match, truths say what is asked, every mistake is off somewhere."""
    for name, exercise in chapter.exercises().items():
        cases, answers = sound(chapter, exercise, STORED_SEED)
        found = [
            *_parts(exercise, cases, answers),
            *_modes(exercise, cases, chapter.probes),
            *(_keys(exercise, cases, answers) if exercise.probe in BUILT_IN else ()),
            *_mistakes(chapter, exercise, cases, answers),
        ]
        for says in dict.fromkeys(found):
            yield Fault(chapter.name, f"reference.py: {name}", says)


def _parts(exercise: Exercise, cases: Drawn, answers: Key) -> Iterator[str]:
    told = terms(exercise)
    for part in exercise.parts:
        here = ((case, mode) for case in sent(cases, part) for mode in case.modes)
        if not any(asked(told, answers.truth, case, mode, part) for case, mode in here):
            yield f"no case has an answer in the part {part!r}: its points cannot be earned"
    known = ", ".join(exercise.parts)
    for case in cases:
        whats = (
            what for mode in case.modes for what in asked(told, answers.truth, case, mode, None)
        )
        for part in sorted({case.part_of(what) for what in whats} - {*exercise.parts, CARD}):
            yield f"cases count in the part {part!r}, which has no points; parts has {known}"


def _modes(exercise: Exercise, cases: Drawn, probes: str) -> Iterator[str]:
    """A mode beside the usual ones is one that the chapter's own probe knows by its name."""
    own = exercise.probe not in (*BUILT_IN, "table")
    for mode in dict.fromkeys(mode for case in cases for mode in case.modes):
        if mode not in MODES and not (own and f'"{mode}"' in probes):
            yield f"nothing runs in the mode {mode!r}; there are {', '.join(MODES)}"


def _keys(exercise: Exercise, cases: Drawn, answers: Key) -> Iterator[str]:
    """What a case wants is what the truth says of it, of the inputs that there are."""
    for case in cases:
        said = [what for name, what in answers.truth if name == case.name]
        for place in said:
            mode, _, what = place.rpartition("/")
            if mode and mode not in MODES:
                yield f"the truth says {place!r}, but {mode!r} is no mode"
            if not _can_be(what, case, exercise):
                yield f"the truth says {place!r}, which nothing gives; {_there(case)}"
        families = {_family(place) for place in said}
        for want in (want for want in case.wants if want not in families):
            yield f"a case wants {want!r} (case {case.name!r}), of which its truth says nothing"
        for family in sorted(families & {"value", "gradient", "second"} - {*case.wants}):
            yield f"the truth says {family!r}, which the case {case.name!r} does not want"


def _family(place: str) -> str:
    return re.split(r"[:\[ ]", place.rpartition("/")[2])[0]


def _inputs(case: Case) -> list[str]:
    return [name for name, value in case.inputs.items() if is_float(value)]


def _can_be(what: str, case: Case, exercise: Exercise) -> bool:
    kind, _, name = what.partition(":")
    if kind in ("gradient", "second") and name:
        return name in _inputs(case)
    by_op = exercise.probe == "op_gradient" and what == "gradient returns"
    return by_op or re.fullmatch(r"value(\[.*\])?", what) is not None


def _there(case: Case) -> str:
    return ", ".join(["there are value", *(f"gradient:{name}" for name in _inputs(case))])


def _mistakes(chapter: Chapter, exercise: Exercise, cases: Drawn, answers: Key) -> Iterator[str]:
    left = {mistake.name for mistake in exercise.mistakes if mistake.answer is not None}
    draws = (sound(chapter, exercise, seed) for seed in telling.SAMPLE)
    while left:
        left -= _off(exercise, cases, answers)
        following = next(draws, None) if left else None
        if following is None:
            break
        cases, answers = following
    for name in sorted(left):
        yield f"the mistake {name!r} is the truth in all draws, or gives what nobody asks for"


def _off(exercise: Exercise, cases: Drawn, answers: Key) -> set[str]:
    """The mistakes of which at least one form is clearly wrong somewhere."""
    found: set[str] = set()
    for form in (0, -1):
        given = {
            name: {k: v.options[form] if isinstance(v, Either) else v for k, v in said.items()}
            for name, said in answers.mistakes.items()
        }
        found |= {
            name for name, _ in telling.shown(terms(exercise), cases, Key(answers.truth, given))
        }
    return found
