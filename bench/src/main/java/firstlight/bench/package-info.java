/**
 * Benchmarks of Firstlight beside llama.cpp, on the same files and cores, in turn. Nothing here is
 * part of a served request, and the build runs none of it.
 *
 * <ul>
 *   <li>{@link firstlight.bench.BenchMain}: the command line.
 *   <li>{@link firstlight.bench.Rounds}: measures contestants in turn and repeats what was
 *       disturbed; {@link firstlight.bench.Comparison} makes the table of it.
 *   <li>{@link firstlight.bench.EngineCommand}: tokens per second of the engines alone.
 *   <li>{@link firstlight.bench.ServerCommand}: what clients see, by {@link
 *       firstlight.bench.LoadClient} under the loads of {@link firstlight.bench.ServerLoad}.
 *   <li>{@link firstlight.bench.OverloadCommand} and {@link firstlight.bench.FloodCommand}: clients
 *       that come when they come, by {@link firstlight.bench.OpenLoad}.
 *   <li>{@link firstlight.bench.EventsCommand}: the slow path beside Kafka's own tools.
 *   <li>{@link firstlight.bench.LookupsCommand}: stored conversations, by tier.
 *   <li>{@link firstlight.bench.KernelsCommand}: matrix products one by one.
 *   <li>{@link firstlight.bench.PeerInstall}: gets llama.cpp.
 * </ul>
 */
@NullMarked
package firstlight.bench;

import org.jspecify.annotations.NullMarked;
