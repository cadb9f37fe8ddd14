"""The experiment file: frozen models, and messages that name the place and the nearest valid name."""

from lab.spec.design import without_ends
from lab.spec.example import NO_FAULT, Control, Example, Fields, Picture, Settings, Switches
from lab.spec.experiment import PLACEBO, Experiment, FileName, Protocol
from lab.spec.level import Environment, Level, LevelSettings, TargetSettings
from lab.spec.load import Capability, EntryProtocol, Load, Schedule
from lab.spec.model import Shape, Version1, validate
from lab.spec.parse import (
    Grammar,
    TargetModels,
    load_experiment,
    parse_experiment,
    recorded_experiment,
)
from lab.spec.problems import Path, Problem, SpecError, dotted, suggestion, user_error
from lab.spec.rules import MAX_SIDE_BY_SIDE
from lab.spec.views import Frontier, HeadlineChoice, Interaction, Sweep, Waterfall, parse_views, unknown_names
from lab.spec.yamlfile import find_named_file, named_files, parse_yaml, read_text

__all__ = [
    "MAX_SIDE_BY_SIDE",
    "NO_FAULT",
    "PLACEBO",
    "Capability",
    "Control",
    "EntryProtocol",
    "Environment",
    "Example",
    "Experiment",
    "Fields",
    "FileName",
    "Frontier",
    "Grammar",
    "HeadlineChoice",
    "Interaction",
    "Level",
    "LevelSettings",
    "Load",
    "Path",
    "Picture",
    "Problem",
    "Protocol",
    "Schedule",
    "Settings",
    "Shape",
    "SpecError",
    "Sweep",
    "Switches",
    "TargetModels",
    "TargetSettings",
    "Version1",
    "Waterfall",
    "dotted",
    "find_named_file",
    "load_experiment",
    "named_files",
    "parse_experiment",
    "parse_views",
    "parse_yaml",
    "read_text",
    "recorded_experiment",
    "suggestion",
    "unknown_names",
    "user_error",
    "validate",
    "without_ends",
]
