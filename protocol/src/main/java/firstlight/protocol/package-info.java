/**
 * What the parts of the mesh say to each other, and the few things all of them need.
 *
 * <ul>
 *   <li><b>Messages</b>: {@link firstlight.protocol.MeshMessage} and its sealed families, sent over
 *       the event bus through {@link firstlight.protocol.MeshCodec}; {@link
 *       firstlight.protocol.Addresses} says where to. Between edge and replica runs gRPC: {@code
 *       inference.proto}, {@link firstlight.protocol.InferenceFrames}.
 *   <li><b>A generation</b>: {@link firstlight.protocol.GenerationSpec}, {@link
 *       firstlight.protocol.Sampling}, {@link firstlight.protocol.FinishReason}.
 *   <li><b>A Step</b>: {@link firstlight.protocol.RunStep}, {@link firstlight.protocol.Slice},
 *       {@link firstlight.protocol.StepResult}; executed by a {@link firstlight.protocol.Device}.
 *   <li><b>Failures</b>: {@link firstlight.protocol.MeshException} with a {@link
 *       firstlight.protocol.FailureKind}.
 *   <li><b>Settings</b>: {@link firstlight.protocol.Settings} and {@link
 *       firstlight.protocol.Problems}.
 *   <li><b>Time and ids</b>, which are always injected: {@link firstlight.protocol.Time}, {@link
 *       firstlight.protocol.IdSource}.
 * </ul>
 */
@NullMarked
package firstlight.protocol;

import org.jspecify.annotations.NullMarked;
