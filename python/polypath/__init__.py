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
from .flow import (
    BurstsResult,
    FlowResult,
    MessagesResult,
    RequestsResult,
    Spread,
    TransferResult,
    VideoResult,
)
from .objects import build
from .registry import Algorithm, Parameter, algorithms
from .result import (
    ConnectionResult,
    Dropped,
    LinkResult,
    PathResult,
    Result,
    RuleResult,
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
    "BurstsResult",
    "CongestionAvoidance",
    "ConnectionResult",
    "Delivery",
    "Dropped",
    "Failure",
    "FlowResult",
    "LinkResult",
    "Loss",
    "LostPacket",
    "MessagesResult",
    "Parameter",
    "PathResult",
    "PathView",
    "Pick",
    "QueueView",
    "RequestsResult",
    "Result",
    "RuleResult",
    "Scenario",
    "ScenarioError",
    "Scheduler",
    "Series",
    "SimulationError",
    "Spread",
    "Subflow",
    "Sweep",
    "SweepError",
    "Table",
    "TransferResult",
    "VideoResult",
    "__version__",
    "algorithms",
    "build",
    "model",
    "objects",
    "predict",
    "run",
    "sweep",
]
