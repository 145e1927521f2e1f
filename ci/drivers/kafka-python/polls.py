"""All polls of a consumer, until its response is used up or a poll raises, and one more after an exception."""

import signal

LONGEST_S = 5.0


class Late(BaseException):
    """The client does not return: BaseException, which it does not catch."""


def late(*_):
    raise Late


def within_limit(ask, q):
    """Answer, or name the client's loop; the signal also ends one that awaits nothing."""
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_S)
    try:
        return ask(q)
    except Late:
        return {"failed": f"the client does not return within {LONGEST_S} s"}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Endless(Exception):
    """A poll that reads the same response again and again."""


def polled(consumer):
    delivered, before = [], None
    try:
        while (now := (len(delivered), consumer.offset)) != before:
            before = now
            delivered += consumer.poll()
    except Exception as error:
        if "Libraries for" in str(error):
            return {"unsupported": "the library of the codec is not installed"}
        raised = {"raises": type(error).__name__, "position": consumer.offset}
        return {"answer": {"delivered": delivered, **raised, **again(consumer)}}
    return {"answer": {"delivered": delivered, "position": consumer.offset}}


def again(consumer):
    """What the next poll raises; left out if it returns nothing, since the consumer then fetches the same batch again."""
    try:
        consumer.poll()
    except Endless:
        return {"again": "no exception: the poll does not return"}
    except Exception as error:
        return {"again": type(error).__name__}
    return {}
