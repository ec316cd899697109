package firstlight.protocol;

/**
 * What decides a device's numbers. Among equal numerics a generation is bit for bit the same,
 * unless the kernels' name has cublaslt in it: then it also depends on what else was in its Steps.
 *
 * @param device its kind: cpu, cuda, glass
 * @param kernels the set of kernels, e.g. q8 or float32
 * @param vectorBits width of its vectors, 0 where that does not matter
 * @param modelDigest SHA-256 of the model file, hexadecimal
 */
public record Numerics(String device, String kernels, int vectorBits, String modelDigest) {}
