"""`key.reject_personal_data`: keys that hold what names a person are refused, and nothing repeats them."""

import unittest

from harness.cases import SystemCase

BODY = b'{"amount":100}'


def with_luhn_digit(digits):
    """`digits` and the check digit of ISO/IEC 7812-1 annex B."""
    doubled = [int(digit) * (2 if position % 2 == 0 else 1) for position, digit in enumerate(reversed(digits))]
    return f"{digits}{-sum(value // 10 + value % 10 for value in doubled) % 10}"


def korean_registration(birth, kind):
    """A resident registration number of somebody who does not exist."""
    digits = f"{birth}{kind}00001"
    total = sum(int(digit) * weight for digit, weight in zip(digits, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)))
    return f"{birth}-{digits[6:]}{(11 - total % 11) % 10}"


PERSONAL = {
    "an e-mail address": ["jon.doe@example.com", "order:jon+1@mail.example.co.uk:7", "<jon@example.com>"],
    "a card number": [with_luhn_digit("424242424242424"), with_luhn_digit("37828224631000"), with_luhn_digit("401288888888"),
                      with_luhn_digit("601111111111111111"), "pay-" + with_luhn_digit("555555555555444") + "-1"],
    "a social security number": ["536-90-4399", "user-536-90-4399"],
    "a resident registration number": [korean_registration("900101", 1), "u:" + korean_registration("050315", 4)],
}
HARMLESS = [
    "8e03978e-40d5-43e8-bc93-6894a57f9324", "stripe-node-retry-0b6e8f5c-6a0e-4d6e-9c5d-2f2f7f3a1b2c", "order-2024-000017", "a+b/c==",
    "user@host", "4242424242424243", "536904399", "2025-01-31", "12345", "900101-1", "20250131-123456-000001",
]


class PersonalData(SystemCase):
    def test_refused_by_its_kind_and_never_repeated(self):
        """[R26][R40] 400 #key-invalid that says which kind it was; neither the answer nor any log holds the key."""
        upstream, proxy = self.setup_pair(policy={"key": {"reject_personal_data": True}})
        details = {}
        for kind, keys in PERSONAL.items():
            for key in keys:
                for spelled in (key, f'"{key}"'):
                    with self.subTest(spelled):
                        refused = proxy.post(spelled, BODY)
                        self.assert_problem(refused, "key-invalid")
                        self.assertNotIn(key.encode(), refused.raw + refused.body)
                        details.setdefault(refused.json()["detail"], set()).add(kind)
        self.assertEqual(upstream.hits(), 0)
        self.assertEqual(sorted(map(sorted, details.values())), sorted([kind] for kind in PERSONAL), "a detail of its own for each kind")
        proxy.access_log(2 * sum(map(len, PERSONAL.values())))
        proxy.stop()
        for key in (key for keys in PERSONAL.values() for key in keys):
            self.assertNotIn(key, proxy.stdout_text() + proxy.stderr_text())

    def test_harmless_keys_are_accepted(self):
        """[R26] What merely looks similar."""
        upstream, proxy = self.setup_pair(policy={"key": {"reject_personal_data": True}})
        for key in HARMLESS:
            with self.subTest(key):
                first = proxy.post(f'"{key}"', BODY)
                self.assertEqual((first.status, first.replayed), (201, False))
                self.assert_replay_of(first, proxy.post(f'"{key}"', BODY))
        self.assertEqual(upstream.hits(), len(HARMLESS))

    def test_accepted_unless_told_otherwise(self):
        """By default a key is just a key."""
        _, proxy = self.setup_pair()
        self.assertEqual(proxy.post('"jon.doe@example.com"', BODY).status, 201)

    def test_in_any_place(self):
        """[R8] In a body too, and in a part of a compound key."""
        upstream, proxy = self.setup_pair(policy={
            "key": {"from": {"all": ["header:X-Shop", "json:/customer"]}, "syntax": "bare", "reject_personal_data": True}})
        refused = proxy.ask("POST", "/pay", [("X-Shop", "17")], b'{"customer":"jon.doe@example.com"}')
        self.assert_problem(refused, "key-invalid")
        self.assertNotIn(b"jon.doe", refused.body)
        self.assertEqual(proxy.ask("POST", "/pay", [("X-Shop", "17")], b'{"customer":"4711"}').status, 201)
        self.assertEqual(upstream.hits(), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
