package firstlight.gpu.cuda;

/** The compiler refused kernels. The message has the beginning of what it printed. */
final class KernelCompileException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private static final int LOG_CHARACTERS_MAX = 8000;

  KernelCompileException(String what, String log) {
    super(log.isBlank() ? what : what + ":\n" + bounded(log.strip()));
  }

  private static String bounded(String log) {
    return log.length() <= LOG_CHARACTERS_MAX
        ? log
        : log.substring(0, LOG_CHARACTERS_MAX) + "\n(and so on)";
  }
}
