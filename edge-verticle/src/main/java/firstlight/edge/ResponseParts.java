package firstlight.edge;

/**
 * What the ways to a Response share, beyond the parts that all dialects have.
 *
 * @param store where Responses are found again
 */
record ResponseParts(
    EdgeParts edge, ResponseStore store, ResponsesReader reader, WebSocketLimits webSockets) {}
