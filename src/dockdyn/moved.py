"""Where modules of earlier versions are now: their old names still work for one release, with a warning.

An entry of `MOVED` reads "old room -> new room: names", a name that has changed as "old=new"; one of `RENAMED` has the
module as it is called now, and what it holds, "old=new".
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

MOVED = """
mechanics -> mechanics.trees: tree=composite_bodies planar_tree=planar spatial_tree=spatial
mechanics -> mechanics.trees: assembly beam link_inertia momentum screws
contact -> contact.laws: normal_law friction spring_dashpot hertz hunt_crossley
contact -> contact.laws: force_stroke compliance_device parallel preloaded
contact -> contact.surfaces: surface cone cylinder plane sphere torus combined
impact -> impact.laws: impact_law newton plastic routh curved_slip=slip_trajectory sliding energy_pair
impact -> impact.laws: simultaneous result checks contact_matrix
impact -> impact.formulas: effective_mass contact_duration latching
integrate -> integrate.hybrid: located node=mesh_point pace=step_control watch=running_extrema
integrate -> integrate.hybrid: cubic delay_line runge_kutta fixed
integrate -> integrate.variational: mechanical colliding event_search discrete_energy lane=solver_state
stability -> stability: rhythm=multirate
loop -> hil: block energy_observer hybrid_contact robot sensor tuning velocity_sources
loop -> hil.compensators: compensator
loop.compensators -> hil.compensators: command_lead energy_layer fixed_gain force_lead lead_energy linear linear_gain
loop.compensators -> hil.compensators: online_stiffness passivity variable_gain velocity_acceleration
models -> kinds.free_flight: free_flight=model coast=model_coast held=model_held catching=model_catch
models -> kinds.free_flight: resting_contact=model_resting_contact
models -> kinds.chains: chains=model four_mass=model_four_mass latch=model_latch
models -> kinds.berthing: berthing=model berthing_observed=model_observed rebound=model_rebound conserve=model_conserve
models -> kinds.berthing: captured=model_captured approach=model_approach
models -> kinds.orbital_arm: orbital_arm=model orbital_observed=model_observed orbital_parts=model_parts
models -> kinds.rig.model: rig rig_bodies=bodies rig_clock=schedule rig_plant=plant rig_run=run wall
study -> kinds.rig: rig_build=build rig_run=run rig_compensator=compensator rig_lanes=lanes
study -> kinds.rig.comparison: compare
study -> studies.campaign: campaign=conduct campaign_store=store
study -> studies.cases: sampling
"""
RENAMED = """
contact.gate: Gate=UnilateralContact
contact.pair: Touch=ContactState Meeting=ContactKinematics meet=contact_kinematics
integrate.model: Sensed=Outputs
integrate.solution: Moment=EventRecord
integrate.hybrid.located: Lane=SolverState begin=init proceed=advance moment=event_record
integrate.hybrid.mesh_point: Node=MeshPoint look=evaluate
integrate.hybrid.running_extrema: Watch=RunningExtrema
integrate.hybrid.step_control: keep_pace=control_step
integrate.variational.colliding: begin=init proceed=advance
integrate.variational.solver_state: Lane=SolverState
stability.multirate: Rhythm=Hyperperiod rhythm=hyperperiod_of
kinds.rig.model.schedule: Clock=RigSchedule clock=rig_schedule
"""
GONE = {"dockdyn.loop", "dockdyn.loop.compensators", "dockdyn.models", "dockdyn.study"}  # rooms that are no more


def new_names() -> dict[str, str]:
    """The new name of every module that has moved, by its old one."""
    found = {}
    for line in MOVED.strip().splitlines():
        rooms, _, names = line.partition(": ")
        old, _, new = rooms.partition(" -> ")
        for name in names.split():
            before, _, after = name.partition("=")
            found[f"dockdyn.{old}.{before}"] = f"dockdyn.{new}.{after or before}"
    return found


class MovedModules(MetaPathFinder, Loader):
    """Imports a module by its old name from where it is now. Asked last, so only for names that nothing else has."""

    def __init__(self) -> None:
        self.names = new_names()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in self.names:
            return ModuleSpec(fullname, self)
        return ModuleSpec(fullname, self, is_package=True) if fullname in GONE else None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module where it is now; of a room that is no more an empty one."""
        if spec.name not in self.names:
            return None
        new = self.names[spec.name]
        warnings.warn(
            f"{spec.name} is now {new}; the old name goes with the next release", DeprecationWarning, stacklevel=2
        )
        return import_module(new)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing more than what lets the room keep its names: the module has run where it is now."""
        for name in {old.rpartition(".")[0] for old in self.names} & set(sys.modules):
            if name not in GONE:
                sys.modules[name].__class__ = Room


class RenamedParts(MetaPathFinder):
    """Lets modules that hold something by a new name give it by the old one, too."""

    def __init__(self) -> None:
        entries = (line.split(": ") for line in RENAMED.strip().splitlines())
        self.names = {f"dockdyn.{module}": dict(name.split("=") for name in names.split()) for module, names in entries}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self.names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            execute, names = spec.loader.exec_module, self.names[fullname]

            def exec_module(module: ModuleType) -> None:
                execute(module)
                vars(module)["__getattr__"] = partial(by_old_name, module, names)

            vars(spec.loader)["exec_module"] = exec_module
        return spec


def by_old_name(module: ModuleType, names: dict[str, str], name: str) -> Any:  # noqa: ANN401, whatever has the name
    """What a module holds by an old `name`, a key of `names`. Raises AttributeError for another name."""
    if name not in names:
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
    words = f"{module.__name__}.{name} is called {names[name]} now; the old name goes with the next release"
    warnings.warn(words, DeprecationWarning, stacklevel=2)
    return getattr(module, names[name])


def take_old_methods(owner: type, names: dict[str, str]) -> None:
    """Let a class of a user's own that defines a method by its old name, the key of `names`, have it by the new one."""
    for old, new in names.items():
        if old in vars(owner) and new not in vars(owner):
            words = f"{owner.__name__}.{old}: the method is called {new} now; the old name goes with the next release"
            warnings.warn(words, DeprecationWarning, stacklevel=4)
            setattr(owner, new, vars(owner)[old])


class Room(ModuleType):
    """A package whose public names stay what they are when an old module of the same name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        taken = name in getattr(self, "__all__", ()) and hasattr(self, name)
        if not (taken and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


def install() -> None:
    """Let old names be imported."""
    if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
        sys.meta_path.append(MovedModules())
        sys.meta_path.insert(0, RenamedParts())
