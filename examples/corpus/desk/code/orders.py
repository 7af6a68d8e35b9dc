"""Client of the orders interface of the desk."""

import json
from urllib.request import Request, urlopen


def get_order(base: str, order_id: str) -> dict:
    """Return one order.

    base: address of the interface, such as https://desk.example/api
    order_id: number of the order, such as A-1007

    Raises KeyError if there is no order of that number.
    """
    with urlopen(f"{base}/orders/{order_id}") as answer:
        if answer.status == 404:
            raise KeyError(order_id)
        return json.load(answer)


def cancel_order(base: str, order_id: str, reason: str = "changed_mind") -> bool:
    """Cancel an order that is still open.

    reason: one of changed_mind, too_late and damaged
    """
    order = get_order(base, order_id)
    if order["state"] != "open":
        return False  # it was sent already
    request = Request(f"{base}/orders/{order_id}/cancel", data=reason.encode(), method="POST")
    with urlopen(request) as answer:
        return answer.status == 200
