/**
 * Runs Steps on a device. Public are {@link firstlight.gpu.GpuVerticle}, which answers for a device
 * on the event bus, its {@link firstlight.gpu.GpuConfig}, {@link firstlight.gpu.Devices}, which
 * opens what there is, and for benchmarks {@link firstlight.gpu.CpuDevice} and {@link
 * firstlight.gpu.KernelTrial}.
 *
 * <ul>
 *   <li>Verticle: {@code DeviceOwner} decides who may use the device, {@code StepCheck} what may
 *       reach it, {@code DeviceThread} is where it runs.
 *   <li>Forward pass: {@code Transformer} (llama and gemma3) over {@code ModelWeights}, {@code
 *       KvMemory} and {@code StepRows}, the tokens of all Slices one after another; {@code
 *       AttentionPhase}, cut by an {@code AttentionPlan} and computed by {@code Attention}; {@code
 *       RotaryEmbedding}, {@code VectorMath}.
 *   <li>Matrix products: {@code Matrix} with its two forms, {@code FloatMatrix} and {@code
 *       QuantisedMatrix}, of which there is one for each number of bits; {@code Activations} are
 *       their input, {@code MatrixPacker} makes them from a model file. Few tokens are multiplied
 *       by packed weights, many by a {@code ShortPanel} or {@code FloatPanel} of unpacked ones.
 *   <li>Choosing tokens: {@code Sampler}, with {@code Candidates} and {@code Draws}.
 *   <li>A check of a GPU, run by itself: {@code GpuCheck} runs {@code CheckStep}s on a {@code
 *       CheckBench}; those named {@code …Check} compare kernels, those named {@code …Speed}
 *       measure.
 *   <li>Threads: {@code DeviceThreads} runs one function on all cores, phase by phase ({@code Turn}
 *       and {@code Share}).
 *   <li>GPUs: {@code CudaDevice} writes a Step with {@code StepStaging}, launches what {@code
 *       CudaForward} prepared for its {@code StepBucket}, and reads the {@code Answers}. {@code
 *       Kernels} and {@code KernelArguments} are the kernels' Java side, {@code CudaWeights} what
 *       {@code WeightUpload} brought there. {@code GpuNeighbours} share a GPU's memory, and {@code
 *       KvRoom} says whether that is enough. What knows no models is in {@link
 *       firstlight.gpu.cuda}.
 * </ul>
 *
 * <p>The rule that everything here keeps: a number depends on its Sequence alone. No sum is split
 * among threads or added across the lanes of a vector in an order that the compiler may choose, and
 * nothing calls a function (like a vector exponential) whose last bit differs between the
 * interpreter and compiled code.
 */
@NullMarked
package firstlight.gpu;

import org.jspecify.annotations.NullMarked;
