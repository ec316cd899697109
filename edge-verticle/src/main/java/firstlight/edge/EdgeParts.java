package firstlight.edge;

import firstlight.protocol.IdSource;
import firstlight.protocol.NodeId;
import firstlight.protocol.Time;
import io.vertx.core.Vertx;

/**
 * What the dialects of one edge instance share. All of it belongs to that instance's event loop.
 *
 * @param bodies reads the JSON bodies of requests
 * @param vertx gives the bus and timers
 */
record EdgeParts(
    Vertx vertx,
    EdgeConfig config,
    NodeId node,
    EdgeModels models,
    Turns turns,
    Bodies bodies,
    Json json,
    Events events,
    FailureEvents failures,
    Feedbacks feedbacks,
    Time time,
    IdSource ids) {}
