import asyncio

import pytest

from vivavoce.predictors.faults import BrokenOff, OutOfPatience
from vivavoce.predictors.patience import Patience


async def forever() -> None:
    await asyncio.Event().wait()


async def soon(result: int, turns: int = 3) -> int:
    for _ in range(turns):
        await asyncio.sleep(0)
    return result


async def test_what_comes_in_time_is_passed_on() -> None:
    patience = Patience(5.0)
    assert [await patience.wait(soon(number)) for number in range(3)] == [0, 1, 2]
    assert 4.0 < patience.left_s <= 5.0


async def test_all_waits_share_one_limit() -> None:
    patience = Patience(0.03)
    for _ in range(2):
        await patience.wait(asyncio.sleep(0.012))
    with pytest.raises(OutOfPatience, match=r"within 0\.03 s"):
        await patience.wait(asyncio.sleep(0.02))


async def test_nothing_is_waited_for_once_it_is_spent() -> None:
    patience = Patience(0.0)
    with pytest.raises(OutOfPatience):
        await patience.wait(forever())


async def test_the_works_own_timeout_is_its_own() -> None:
    async def fail() -> None:
        raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        await Patience(5.0).wait(fail())


async def test_a_cancel_is_a_cancel() -> None:
    waiting = asyncio.ensure_future(Patience(5.0).wait(forever()))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_one_that_is_lost_ends_the_wait_and_all_that_follow() -> None:
    patience, now_s = Patience(5.0), asyncio.get_running_loop().time()
    waiting = asyncio.ensure_future(patience.wait(forever()))
    await asyncio.sleep(0)
    patience.lose(now_s)
    with pytest.raises(BrokenOff):
        await waiting
    with pytest.raises(BrokenOff):
        await patience.wait(forever())
    patience.anew()
    assert await patience.wait(soon(7)) == 7


async def test_one_that_has_moved_since_is_not_lost() -> None:
    patience, before_s = Patience(5.0), asyncio.get_running_loop().time()
    await patience.wait(soon(1))
    patience.lose(before_s)
    assert await patience.wait(soon(2)) == 2
