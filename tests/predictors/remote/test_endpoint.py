import pytest

from vivavoce.predictors.discovery import Target
from vivavoce.predictors.endpoint import SLOW_START_MS, Endpoint
from vivavoce.predictors.info import EndpointInfo


class Clock:
    now = 0.0

    def now_ms(self) -> float:
        return self.now


class Predictor:
    slots = 4
    info = EndpointInfo()

    def streams(self, voice: str) -> int:
        return 8


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def endpoint(clock) -> Endpoint:
    return Endpoint(Target("http://one"), Predictor(), clock)


def run(endpoint: Endpoint, *results: str, others_ready: bool = True) -> None:
    for result in results:
        endpoint.began()
        endpoint.ended(result, others_ready=others_ready)


def test_it_is_ready_by_a_good_probe(endpoint) -> None:
    assert (endpoint.state, endpoint.slots) == ("unready", 0)
    assert endpoint.probed(starts_slowly=False)
    assert (endpoint.state, endpoint.slots) == ("ready", 4)
    assert not endpoint.probed(starts_slowly=False)


def test_one_that_joins_others_starts_slowly(endpoint, clock) -> None:
    old = Endpoint(Target("http://old"), Predictor(), clock)
    old.probed(starts_slowly=False)
    endpoint.probed(starts_slowly=True)
    assert endpoint.state == "slow_start"
    assert endpoint.slots == 4
    run_at = [(at, endpoint.load / old.load) for at in _steps(clock)]
    assert [round(ratio, 1) for _, ratio in run_at] == [10.0, 4.0, 2.0, 1.3, 1.0]
    assert endpoint.state == "ready"


def _steps(clock):
    for share in (0, 0.25, 0.5, 0.75, 1.0):
        clock.now = share * SLOW_START_MS
        yield share


@pytest.mark.parametrize("fault", ["failed", "timeout"])
def test_three_failures_in_a_row_eject_it(endpoint, clock, fault) -> None:
    endpoint.probed(starts_slowly=False)
    run(endpoint, fault, fault, "ok", fault, fault)
    assert endpoint.is_ready
    run(endpoint, fault)
    assert (endpoint.state, endpoint.slots) == ("ejected", 0)
    clock.now = 999
    assert not endpoint.probed(starts_slowly=True)
    clock.now = 1_001
    assert endpoint.probed(starts_slowly=True)
    assert endpoint.state == "slow_start"


def test_each_ejection_is_twice_as_long_up_to_a_minute_until_it_is_well(endpoint, clock) -> None:
    endpoint.probed(starts_slowly=False)

    def ejection_ms() -> float:
        run(endpoint, "failed", "failed", "failed")
        since, clock.now = clock.now, clock.now + 500
        while not endpoint.probed(starts_slowly=True):
            clock.now += 500
        return clock.now - since

    assert [ejection_ms() for _ in range(8)] == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]
    run(endpoint, "ok")
    assert ejection_ms() == 60_000
    clock.now += SLOW_START_MS
    run(endpoint, "ok")
    assert ejection_ms() == 1_000


def test_the_last_one_is_never_ejected(endpoint) -> None:
    endpoint.probed(starts_slowly=False)
    run(endpoint, *["failed"] * 9, others_ready=False)
    assert (endpoint.state, endpoint.failures) == ("ready", 9)


def test_one_that_is_not_there_is_unready_at_once(endpoint) -> None:
    endpoint.probed(starts_slowly=False)
    endpoint.began()
    assert endpoint.ended("unreachable", others_ready=False)
    assert endpoint.state == "unready"
    assert endpoint.probed(starts_slowly=False)


def test_a_late_probe_is_doubted_a_certain_one_is_not(endpoint) -> None:
    endpoint.probed(starts_slowly=False)
    assert not endpoint.probe_failed(is_certain=False)
    assert endpoint.is_ready
    endpoint.probed(starts_slowly=False)
    assert not endpoint.probe_failed(is_certain=False)
    assert endpoint.probe_failed(is_certain=False)
    assert endpoint.state == "unready"
    endpoint.probed(starts_slowly=False)
    assert endpoint.probe_failed(is_certain=True)


def test_a_refusal_keeps_it_full_for_a_moment_and_longer_each_time(endpoint, clock) -> None:
    endpoint.probed(starts_slowly=False)
    waits = []
    for _ in range(7):
        run(endpoint, "refused")
        assert endpoint.is_full
        waits.append(endpoint.full_for_ms)
        clock.now += endpoint.full_for_ms
        assert not endpoint.is_full
    assert waits == [10, 20, 40, 80, 160, 200, 200]
    run(endpoint, "ok", "refused")
    assert endpoint.full_for_ms == 10
    assert endpoint.failures == 0


def test_it_is_full_with_all_slots_taken(endpoint) -> None:
    endpoint.probed(starts_slowly=False)
    for _ in range(4):
        assert not endpoint.is_full
        endpoint.began()
    assert endpoint.is_full
    endpoint.ended("ok", others_ready=False)
    assert not endpoint.is_full


def test_what_a_person_sees(endpoint) -> None:
    endpoint.probed(starts_slowly=False)
    run(endpoint, "ok", "failed")
    endpoint.began()
    shown = endpoint.shown()
    assert (shown.endpoint, shown.state, shown.slots, shown.streams) == ("http://one", "ready", 4, 8)
    assert (shown.outstanding, shown.requests, shown.failures) == (1, 3, 1)
    endpoint.is_leaving = True
    assert endpoint.shown().state == "leaving"
