package firstlight.gpu.cuda;

import firstlight.protocol.Sha256;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The source of the kernels.
 *
 * @param main the text of the file that is compiled
 * @param headers the text of each file it includes, by name
 */
record KernelSources(String main, Map<String, String> headers) {
  static final String MAIN = "kernels.cu";

  /** Names the files, one a line; {@link #MAIN} is the first. */
  static final String LIST = "sources.txt";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}");

  KernelSources {
    headers = Map.copyOf(headers);
  }

  static KernelSources ofJar() {
    try {
      return of(KernelFiles.ofJar());
    } catch (IOException e) {
      throw new UncheckedIOException("the kernels' sources can not be read", e);
    }
  }

  static KernelSources of(KernelFiles files) throws IOException {
    List<String> names =
        text(files, LIST).lines().map(String::strip).filter(name -> !name.isEmpty()).toList();
    if (names.isEmpty() || !names.getFirst().equals(MAIN)) {
      throw new IOException(LIST + " does not begin with " + MAIN);
    }
    Map<String, String> headers = new TreeMap<>();
    for (String name : names.subList(1, names.size())) {
      if (!NAME.matcher(name).matches()) {
        throw new IOException(LIST + " has a name that is not one of a file: " + name);
      }
      headers.put(name, text(files, name));
    }
    return new KernelSources(text(files, MAIN), headers);
  }

  private static String text(KernelFiles files, String name) throws IOException {
    return new String(
        files.read(name).orElseThrow(() -> new IOException(name + " is missing")),
        StandardCharsets.UTF_8);
  }

  /** Of the text of all files and of how they are compiled, in hexadecimal. */
  String digest() {
    StringBuilder all = new StringBuilder();
    append(all, MAIN, main);
    new TreeMap<>(headers).forEach((name, text) -> append(all, name, text));
    Nvrtc.OPTIONS.forEach(option -> append(all, "option", option));
    return Sha256.hex(all.toString());
  }

  /** With its length, so that moving text from one file to the next changes the digest. */
  private static void append(StringBuilder all, String name, String text) {
    all.append(name).append('\n').append(text.length()).append('\n').append(text).append('\n');
  }
}
