/**
 * The client's side of the mesh: HTTP, SSE and WebSocket; the dialects of the API; keys and limits;
 * placement; the answer's text.
 *
 * <p>Every dialect is a small reader and a small writer around one pipeline:
 *
 * <ul>
 *   <li><b>In</b>: {@link firstlight.edge.Keys} says who asks, {@link firstlight.edge.Json} and
 *       {@link firstlight.edge.Fields} read the body within limits, a dialect makes a {@link
 *       firstlight.edge.TurnRequest} of it.
 *   <li><b>Turn</b>: {@link firstlight.edge.Turns} renders and tokenizes the prompts, places the
 *       generations on replicas and reports {@link firstlight.edge.TurnEvent}s.
 *   <li><b>Out</b>: the dialect writes them as one JSON object or through an {@link
 *       firstlight.edge.SseStream}; {@link firstlight.edge.Errors} is the one place where a failure
 *       becomes a status and an error object.
 * </ul>
 *
 * <p>All objects here belong to one {@code EdgeVerticle} instance and are used on its event loop
 * only, unless they say otherwise.
 */
@NullMarked
package firstlight.edge;

import org.jspecify.annotations.NullMarked;
