package firstlight.gpu.cuda;

/**
 * Memory of a GPU. It lives as long as its {@link Gpu}, unless it is freed before.
 *
 * @param address as kernels know it
 * @param bytes how many there are
 */
public record DeviceMemory(long address, long bytes) {

  /**
   * The address of a part.
   *
   * @throws IndexOutOfBoundsException the part is not within
   */
  public long at(long offset, long length) {
    if (offset < 0 || length < 0 || offset > bytes - length) {
      throw new IndexOutOfBoundsException(
          "%d bytes from %d of %d bytes of device memory".formatted(length, offset, bytes));
    }
    return address + offset;
  }
}
