package firstlight.gpu.cuda;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;

/**
 * Tells the simulated driver of another process what to do, through a file that both map. It is
 * laid out as {@code Control} of {@code simulated_driver.h}.
 */
public final class SimulatedControl {
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final VarHandle RESULT = INT.varHandle();
  private static final long MEMORY_BYTES = 8L << 30;
  private static final int FAULTS_MAX = 4;
  private static final int FAULT_BYTES = 16;
  private static final int DEVICE = 4;
  private static final int AFTER = 8;
  private static final int DEVICES_AT = 8;
  private static final int FAULTS_AT = 16;
  private static final int ANY_DEVICE = -1;

  private final Path file;
  private final MemorySegment mapped;

  /**
   * A call that is to fail.
   *
   * @param result a CUresult; which calls it may hit is said at {@link SimulatedDriver#inject}
   * @param after 1 is the next such call
   * @param device whose calls alone it may hit
   */
  public record Fault(int result, long after, int device) {
    /** On whatever device. */
    public Fault(int result, long after) {
      this(result, after, ANY_DEVICE);
    }
  }

  private SimulatedControl(Path file, MemorySegment mapped) {
    this.file = file;
    this.mapped = mapped;
  }

  /** Makes the file, for one process. */
  public static SimulatedControl in(Path folder) {
    Path file = folder.resolve("simulated-control").toAbsolutePath();
    try {
      Files.createFile(file);
      try (FileChannel channel =
          FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        long bytes = FAULTS_AT + (long) FAULTS_MAX * FAULT_BYTES;
        MemorySegment mapped =
            channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, Arena.ofAuto());
        SimulatedControl control = new SimulatedControl(file, mapped);
        control.memory(MEMORY_BYTES);
        control.devices(1);
        return control;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What a process needs in its environment so that it finds the driver, and the driver this. */
  public Map<String, String> environment() {
    try {
      String folder = new SimulatedBuild(SimulatedDriver.moduleFolder()).folder().toString();
      return Map.of("LD_LIBRARY_PATH", folder, "FIRSTLIGHT_SIM_CONTROL", file.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The memory of each device. */
  public void memory(long bytes) {
    mapped.set(LONG, 0, bytes);
  }

  /** How many devices the process will find. */
  public void devices(int devices) {
    mapped.set(LONG, DEVICES_AT, devices);
  }

  /** Lets calls fail, one after the other, each once. */
  public void inject(Fault... faults) {
    if (faults.length > FAULTS_MAX || pending()) {
      throw new IllegalStateException("too many faults at a time");
    }
    // The first last: from then on they count.
    for (int i = faults.length - 1; i >= 0; i--) {
      mapped.set(INT, at(i) + DEVICE, faults[i].device());
      mapped.set(LONG, at(i) + AFTER, faults[i].after());
      RESULT.setVolatile(mapped, at(i), faults[i].result());
    }
  }

  /** Whether a fault is still to come. */
  public boolean pending() {
    for (int i = 0; i < FAULTS_MAX; i++) {
      if ((int) RESULT.getVolatile(mapped, at(i)) != 0) {
        return true;
      }
    }
    return false;
  }

  private static long at(int fault) {
    return FAULTS_AT + (long) fault * FAULT_BYTES;
  }
}
