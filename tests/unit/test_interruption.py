"""What a first, a second and a third Ctrl-C do."""

import signal
import threading

import pytest

from fwbench.interruption import Interruption


def press():
    signal.raise_signal(signal.SIGINT)


def test_the_first_one_is_noted():
    with Interruption(raises=False) as interruption:
        assert not interruption.is_set()
        press()
        assert interruption.is_set()
        assert not interruption.twice


def test_where_nothing_else_can_end_a_run_the_first_one_is_raised():
    with Interruption(raises=True) as interruption:
        with pytest.raises(KeyboardInterrupt):
            press()
        assert interruption.is_set()


@pytest.mark.parametrize("raises", [True, False])
def test_the_second_one_is_raised_anyhow(raises):
    with Interruption(raises=raises) as interruption:
        with interruption.deferred():
            press()
            with pytest.raises(KeyboardInterrupt):
                press()
        assert interruption.twice
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL  # of the third one


def test_what_is_written_is_written_to_its_end():
    with Interruption(raises=True) as interruption:
        with interruption.deferred():
            press()
        assert interruption.is_set()


def test_it_is_raised_where_that_is_asked_for():
    with Interruption(raises=False) as interruption:
        with pytest.raises(KeyboardInterrupt), interruption.raising():
            press()
        assert interruption.is_set()


def test_raising_ends_with_its_block():
    with Interruption(raises=False) as interruption:
        with interruption.raising():
            pass
        press()
        assert interruption.is_set()


def test_the_handler_before_is_put_back_also_after_an_error():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError), Interruption(raises=True):
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_has_no_handler_to_set():
    found = []

    def work():
        with Interruption(raises=True) as interruption:
            found.append(interruption.is_set())

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False]
    assert signal.getsignal(signal.SIGINT) is before
