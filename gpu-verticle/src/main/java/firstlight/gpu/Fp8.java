package firstlight.gpu;

/** Numbers of eight bits: a sign, four bits of exponent, three behind the first (E4M3). */
final class Fp8 {
  private Fp8() {}

  static float toFloat(byte bits) {
    int exponent = bits >> 3 & 15;
    int fraction = bits & 7;
    if (exponent == 15 && fraction == 7) {
      return Float.NaN;
    }
    float size =
        exponent == 0 ? Math.scalb(fraction, -9) : Math.scalb(8f + fraction, exponent - 10);
    return bits < 0 ? -size : size;
  }

  /** The weights of a matrix on a GPU, with their scales. */
  static float[] floats(CheckMemory memory, CudaMatrix matrix) {
    byte[] bytes = memory.readBytes(matrix.address());
    float[] scales = memory.readFloats(matrix.scales());
    float[] floats = new float[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      floats[i] = toFloat(bytes[i]) * scales[i / matrix.columns()];
    }
    return floats;
  }
}
