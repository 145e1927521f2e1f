"""Every example of the page of replication, played on the clusters whose timelines the page shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from live_plays import played

from kafka_conformance.replication.example_page import CLUSTERS
from kafka_conformance.replication.examples import EXAMPLES, HistoryExample
from kafka_conformance.replication.live.cluster import LiveCluster, live_cluster
from kafka_conformance.replication.live.comparison import compare
from kafka_conformance.replication.live.timing import TIMING, ZOOKEEPER_TIMING
from kafka_reference.cluster.history import simulate

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(900),
    # kafka-python reads its schemas with a function of importlib that Python 3.11 deprecates.
    pytest.mark.filterwarnings("ignore:.*Use files.. instead:DeprecationWarning"),
]


@pytest.fixture(scope="module", params=CLUSTERS, ids=["-".join(cluster) for cluster in CLUSTERS])
def cluster(request: pytest.FixtureRequest) -> Iterator[LiveCluster]:
    release, mode = request.param
    with live_cluster(release, TIMING if mode == "kraft" else ZOOKEEPER_TIMING) as running:
        yield running


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.title for example in EXAMPLES])
def test_documented_replication_scenario_on_a_real_cluster_matches_the_reference(
    cluster: LiveCluster, example: HistoryExample
) -> None:
    expected = simulate(example.script, cluster.release, cluster.mode)
    one = played(cluster, example.script, expected)
    assert compare(one, expected, cluster.timing) == ()
