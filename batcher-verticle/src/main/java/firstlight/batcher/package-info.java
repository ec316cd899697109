/**
 * A replica: admission and token-level scheduling for one device.
 *
 * <ul>
 *   <li><b>Deciding</b>, plain and single-threaded: {@link firstlight.batcher.Scheduler} makes
 *       Steps and takes in their results. {@link firstlight.batcher.Admission} decides who gets in,
 *       {@link firstlight.batcher.WaitingQueue} who is next, {@link firstlight.batcher.StopRule}
 *       which token is the last; a {@link firstlight.batcher.Sequence} holds a generation's tokens,
 *       a {@link firstlight.batcher.StepDraft} those of a Step.
 *   <li><b>Memory</b>: {@link firstlight.batcher.KvMemory} gives Blocks to Sequences, out of a
 *       {@link firstlight.batcher.BlockPool} and with what {@link firstlight.batcher.PrefixIndex}
 *       finds; a {@link firstlight.batcher.BlockTable} lists those of a Sequence.
 *   <li><b>Doing</b>: {@link firstlight.batcher.BatcherVerticle} starts and stops, {@link
 *       firstlight.batcher.ReplicaLoop} sends Steps to the device that {@link
 *       firstlight.batcher.DeviceClaim} got, {@link firstlight.batcher.EdgeStreams} and {@link
 *       firstlight.batcher.EdgeStream} speak gRPC with edges, through {@link
 *       firstlight.batcher.SubmissionRules} on the way in and {@link firstlight.batcher.Frames} on
 *       the way out. {@link firstlight.batcher.BatcherMetrics} shows it all.
 *   <li><b>Settings</b>: {@link firstlight.batcher.BatcherConfig}.
 * </ul>
 */
@NullMarked
package firstlight.batcher;

import org.jspecify.annotations.NullMarked;
