"""Functions that answer NULL where an argument is, and warn of what they cannot tell (manual, functions).

strictly(math.sqrt, warn, packet_bytes)(None)       # None
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import InvalidOperation
from functools import wraps
from typing import Any

from ndbplan.train.sql import dates, digests
from ndbplan.train.sql.moments import NoMomentError, NoTimeError
from ndbplan.train.sql.problem import NotSimulated
from ndbplan.train.sql.text_functions import MOST_BYTES, TooLongError
from ndbplan.train.sql.truncating import Warn


class NoLogarithmError(ValueError):
    """A number has none: the server warns of it, and answers NULL."""


def strictly(function: Callable[..., Any], warn: Warn, packet_bytes: int) -> Callable[..., Any]:
    """The function with NULL where any argument is, or where it cannot be told; no longer than a packet.

    Raises NotSimulated for texts that are longer than those made here.
    """

    @wraps(function)
    def wrapper(*given: Any) -> Any:
        if any(one is None for one in given):
            return None
        try:
            return function(*given)
        except TooLongError as error:
            if error.size <= packet_bytes:
                raise NotSimulated(f"texts of more than {MOST_BYTES} bytes are not simulated") from None
            said = f"Result of {error.function}() was larger than max_allowed_packet ({packet_bytes})"
            warn(1301, f"{said} - truncated")
            return None
        except NoLogarithmError:
            warn(3020, "Invalid argument for logarithm")
            return None
        except NoTimeError as error:
            warn(1292, f"Truncated incorrect time value: '{error}'")
            return None
        except dates.TooLongError as error:
            warn(1292, f"Truncated incorrect time value: '{error}'")
            return error.longest
        except digests.NoAddressError as error:
            warn(1411, f"Incorrect string value: ''{error}'' for function {error.function}")
            return None
        except digests.NoLettersError as error:
            warn(1300, f"Invalid {error.character_set} character string: '{error}'")
            return None
        except digests.NoSuchDigestError:
            warn(1583, "Incorrect parameters in the call to native function 'sha2'")
            return None
        except dates.OverflowedError:
            warn(1441, "Datetime function: datetime field overflow")
            return None
        except NoMomentError as error:
            warn(1292, f"Incorrect datetime value: '{error}'")
            return None
        except (ValueError, TypeError, OverflowError, InvalidOperation):
            return None

    return wrapper
