"""Polypath: simulate bonds of several 5G, LTE and Wi-Fi links.

>>> import polypath
>>> scenario = polypath.Scenario.load("scenarios/blockage.toml")
>>> result = polypath.run(scenario, seed=1)
>>> result.connections[0].goodput_mbit_s
"""

from . import model, objects, predict
from ._native import (
    Ack,
    AlgorithmError,
    Delivery,
    Loss,
    LostPacket,
    PathView,
    Pick,
    QueueView,
    ScenarioError,
    SimulationError,
    Subflow,
    __version__,
)
from .algorithm import CongestionAvoidance, Scheduler
from .objects import build
from .registry import Algorithm, Parameter, algorithms
from .result import (
    ConnectionResult,
    Dropped,
    FlowResult,
    LinkResult,
    PathResult,
    Result,
    Series,
)
from .running import run
from .scenario import Scenario
from .sweep import Failure, Sweep, SweepError, sweep
from .table import Table

__all__ = [
    "Ack",
    "Algorithm",
    "AlgorithmError",
    "CongestionAvoidance",
    "ConnectionResult",
    "Delivery",
    "Dropped",
    "Failure",
    "FlowResult",
    "LinkResult",
    "Loss",
    "LostPacket",
    "Parameter",
    "PathResult",
    "PathView",
    "Pick",
    "QueueView",
    "Result",
    "Scenario",
    "ScenarioError",
    "Scheduler",
    "Series",
    "SimulationError",
    "Subflow",
    "Sweep",
    "SweepError",
    "Table",
    "__version__",
    "algorithms",
    "build",
    "model",
    "objects",
    "predict",
    "run",
    "sweep",
]
