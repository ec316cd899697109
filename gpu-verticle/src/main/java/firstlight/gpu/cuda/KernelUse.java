package firstlight.gpu.cuda;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a kernel uses of a GPU, as the compiler's log says it.
 *
 * @param registers of a thread
 * @param stackBytes of a thread, in slow memory
 * @param spillStoreBytes written by a thread because its registers do not suffice
 * @param spillLoadBytes read by a thread for the same reason
 * @param sharedBytes of a block, as far as it is known when compiling
 */
record KernelUse(
    String kernel,
    int registers,
    int stackBytes,
    int spillStoreBytes,
    int spillLoadBytes,
    int sharedBytes) {
  private static final Pattern ENTRY = Pattern.compile("Compiling entry function '([^']+)'");
  private static final Pattern SPILLS =
      Pattern.compile(
          "(\\d{1,9}) bytes stack frame, (\\d{1,9}) bytes spill stores,"
              + " (\\d{1,9}) bytes spill loads");
  private static final Pattern REGISTERS = Pattern.compile("Used (\\d{1,9}) registers");
  private static final Pattern SHARED = Pattern.compile("(\\d{1,9}) bytes smem");

  boolean spills() {
    return spillStoreBytes + spillLoadBytes > 0;
  }

  @Override
  public String toString() {
    return "%-40s %3d registers, %d + %d bytes spilled, %d bytes of stack, %d bytes shared"
        .formatted(kernel, registers, spillStoreBytes, spillLoadBytes, stackBytes, sharedBytes);
  }

  /** Of every kernel that a log names, in the order of the names. */
  static List<KernelUse> of(String log) {
    Map<String, KernelUse> found = new TreeMap<>();
    String kernel = "";
    for (String line : log.lines().toList()) {
      Matcher entry = ENTRY.matcher(line);
      Matcher spills = SPILLS.matcher(line);
      Matcher registers = REGISTERS.matcher(line);
      if (entry.find()) {
        kernel = entry.group(1);
      } else if (spills.find()) {
        // A function that is not inlined has a line of its own: it counts to the kernel.
        found.merge(kernel, spilled(kernel, spills), KernelUse::plus);
      } else if (registers.find()) {
        Matcher shared = SHARED.matcher(line);
        int sharedBytes = shared.find() ? number(shared, 1) : 0;
        found.merge(
            kernel,
            new KernelUse(kernel, number(registers, 1), 0, 0, 0, sharedBytes),
            KernelUse::plus);
      }
    }
    return new ArrayList<>(found.values());
  }

  private static KernelUse spilled(String kernel, Matcher spills) {
    return new KernelUse(kernel, 0, number(spills, 1), number(spills, 2), number(spills, 3), 0);
  }

  private static int number(Matcher matcher, int group) {
    return Integer.parseInt(matcher.group(group));
  }

  private KernelUse plus(KernelUse other) {
    return new KernelUse(
        kernel,
        registers + other.registers,
        stackBytes + other.stackBytes,
        spillStoreBytes + other.spillStoreBytes,
        spillLoadBytes + other.spillLoadBytes,
        sharedBytes + other.sharedBytes);
  }
}
