/**
 * The client's side of the mesh: HTTP, SSE and WebSocket; the dialects of the API; keys and limits;
 * placement; the answer's text.
 *
 * <p>{@link firstlight.edge.EdgeVerticle} puts it together. Every dialect is a small reader and a
 * small writer around one pipeline:
 *
 * <ul>
 *   <li><b>Door</b>: {@link firstlight.edge.HttpForm} and {@link firstlight.edge.IdleConnections}
 *       guard connections; {@link firstlight.edge.Gate} gives a request its id and asks {@link
 *       firstlight.edge.Keys} who sends it; {@link firstlight.edge.HealthRoute} is for operators.
 *   <li><b>In</b>: {@link firstlight.edge.Bodies}, {@link firstlight.edge.Json} and {@link
 *       firstlight.edge.Fields} read a body within limits; a dialect's reader makes a {@link
 *       firstlight.edge.TurnRequest} of it: {@link firstlight.edge.ChatReader}, {@link
 *       firstlight.edge.CompletionsReader}, {@link firstlight.edge.MessagesReader}, {@link
 *       firstlight.edge.ResponsesReader}.
 *   <li><b>Turn</b>: {@link firstlight.edge.Turns}, which is {@link firstlight.edge.ReplicaTurns}.
 *       {@link firstlight.edge.Load} has a place for it, {@link firstlight.edge.PromptBuilder}
 *       makes token ids on a worker, {@link firstlight.edge.Placement} chooses among {@link
 *       firstlight.edge.Replicas}, a {@link firstlight.edge.ReplicaLink} carries the generations.
 *       {@link firstlight.edge.Turn} and its {@link firstlight.edge.Answer}s turn what comes back
 *       into {@link firstlight.edge.TurnEvent}s, {@link firstlight.edge.TurnAccount} into figures
 *       and one Event.
 *   <li><b>Out</b>: the dialect's writer puts them into one JSON object or through an {@link
 *       firstlight.edge.SseStream} or a WebSocket; {@link firstlight.edge.ResponseRest} tells the
 *       events of a Response again, {@link firstlight.edge.ResponseBackground} those of one that
 *       runs on without its client; {@link firstlight.edge.Errors} is the one place where a failure
 *       becomes a status and an error object.
 *   <li><b>Slow path</b>: {@link firstlight.edge.FeedbackRoute}; and {@link
 *       firstlight.edge.Events}, which an {@link firstlight.edge.EventLine} carries to Kafka: a
 *       {@link firstlight.edge.DraftQueue}, a {@link firstlight.edge.SpoolWriter}, the {@link
 *       firstlight.edge.EventSpool} on the disk and an {@link firstlight.edge.EventForwarder}. They
 *       are shared by all instances of a process and have threads of their own.
 * </ul>
 *
 * <p>Rules that a client may want to know, beyond OpenAI's: max_completion_tokens wins over
 * max_tokens; completions without max_tokens have 16, chats go up to the end of the context; an
 * output limit beyond the context is lowered to it; text parts of a message are joined with nothing
 * between them; a developer message is a system message where the template does not know
 * developers; fields without an effect are listed in the header {@code
 * x-firstlight-ignored-fields}; bodies are not decompressed; {@code /health} and {@code /metrics}
 * need no key.
 *
 * <p>All objects here belong to one {@code EdgeVerticle} instance and are used on its event loop
 * only, unless they say otherwise.
 */
@NullMarked
package firstlight.edge;

import org.jspecify.annotations.NullMarked;
