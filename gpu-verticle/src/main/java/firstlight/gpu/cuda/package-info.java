/**
 * NVIDIA GPUs through JavaCPP's bindings of the CUDA driver: nothing here knows of models.
 *
 * <ul>
 *   <li>{@link firstlight.gpu.cuda.CudaProbe} says whether there is a driver, before any class of
 *       the bindings is touched.
 *   <li>{@link firstlight.gpu.cuda.Gpu} is one GPU in use: its memory, its stream, its kernels, and
 *       graphs of launches. What the driver refuses is a {@link firstlight.gpu.cuda.CudaException}.
 *   <li>{@link firstlight.gpu.cuda.CublasLt} is NVIDIA's library of matrix products, where that is
 *       wanted.
 *   <li>{@link firstlight.gpu.cuda.KernelImages} has the kernels compiled for a GPU. Their sources
 *       are {@code .cu} resources.
 * </ul>
 */
@NullMarked
package firstlight.gpu.cuda;

import org.jspecify.annotations.NullMarked;
