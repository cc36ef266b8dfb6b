"""Functions of the mysql console: dates, intervals, bases and digests, as the manual defines them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.console import Client

FACTS = {
    "DATE_ADD('2026-01-31', INTERVAL 1 MONTH)": "2026-02-28",
    "DATE_ADD('2024-02-29', INTERVAL -1 YEAR)": "2023-02-28",
    "'2026-01-01' - INTERVAL 1 SECOND": "2025-12-31 23:59:59",
    "INTERVAL 1 DAY + '2026-12-31'": "2027-01-01",
    "ADDDATE('2026-01-01', 31)": "2026-02-01",
    "SUBDATE('2026-01-01 10:00:00', INTERVAL 2 WEEK)": "2025-12-18 10:00:00",
    "DATEDIFF('2026-03-01', '2026-02-01 23:59:59')": "28",
    "TIMESTAMPDIFF(MONTH, '2026-01-31', '2026-02-28')": "0",
    "TIMESTAMPDIFF(DAY, '2026-01-02', '2026-01-01 00:00:01')": "0",
    "TIMESTAMPDIFF(HOUR, '2026-01-01', '2026-01-02 00:59:59')": "24",
    "DATE_FORMAT('2026-11-03 09:05:07', '%W %D %M %Y %k:%i:%s %p %j %y %e %%')":
        "Tuesday 3rd November 2026 9:05:07 AM 307 26 3 %",
    "UNIX_TIMESTAMP('2026-01-01 00:00:01')": "1767225601",
    "FROM_UNIXTIME(1767225601, '%H:%i:%S')": "00:00:01",
    "TO_DAYS('2026-01-01')": "739982",
    "FROM_DAYS(739982)": "2026-01-01",
    "LAST_DAY('2024-02-01')": "2024-02-29",
    "DAYOFWEEK('2026-11-28')": "7",
    "WEEKDAY('2026-11-28')": "5",
    "MONTHNAME('2026-11-28')": "November",
    "EXTRACT(MINUTE FROM '2026-11-28 10:20:30')": "20",
    "TIMEDIFF('2026-01-02 00:00:00', '2026-01-01 12:30:00')": "11:30:00",
    "HEX(255)": "FF", "HEX('abc')": "616263", "HEX(UNHEX('4142'))": "4142", "HEX(-1)": "FFFFFFFFFFFFFFFF",
    "MD5('a')": "0cc175b9c0f1b6a831c399e269772661",
    "SHA1('a')": "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8",
    "LEFT(SHA2('a', 256), 8)": "ca978112", "SHA2('a', 7)": "NULL", "CRC32('a')": "3904355907",
    "CONV('ff', 16, 2)": "11111111", "CONV(-1, 10, 16)": "FFFFFFFFFFFFFFFF", "CONV(-1, 10, -16)": "-1",
    "CONV('z', 10, 16)": "0", "BIN(5)": "101", "OCT(9)": "11", "INET_ATON('127.1')": "2130706433",
    "INET_NTOA(16909060)": "1.2.3.4", "PI()": "3.141593", "RAND(1)": "0.40540353712197724",
}  # fmt: skip


def test_functions_answer_as_the_manual_says(cluster: LiveCluster) -> None:
    listed = ", ".join(FACTS)
    answer = Client().answer(f"SELECT {listed}\\G", cluster).splitlines()[1:]
    lines = [line.strip() for line in answer]
    assert [f"{name}: {value}" for name, value in FACTS.items() if f"{name}: {value}" not in lines] == []


@pytest.mark.parametrize(("version", "shown"), [("8.4.8", "0x41"), ("7.4.10", "A")])
def test_bytes_are_shown_as_the_client_of_the_version_does(
    version: str, shown: str, begun: Callable[[str], LiveCluster]
) -> None:
    answer = Client().answer("SELECT UNHEX('41'), NOW(3) > NOW() - INTERVAL 1 SECOND", begun(version))
    assert f"| {shown} " in answer
    assert answer.splitlines()[3].endswith(" 1 |")


def test_what_is_no_date_is_null_with_a_warning(cluster: LiveCluster) -> None:
    client = Client()
    assert "NULL" in client.answer("SELECT YEAR('nix')", cluster)
    assert "| Warning | 1292 | Incorrect datetime value: 'nix' |" in client.answer("SHOW WARNINGS", cluster)
    assert client.answer("SELECT NOW() + INTERVAL '1:2' MINUTE_SECOND", cluster).startswith(
        "ndbplan: INTERVAL"
    )
