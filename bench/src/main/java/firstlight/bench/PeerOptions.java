package firstlight.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which llama.cpp is the peer. */
final class PeerOptions {
  /** How the peer is got. */
  enum Kind {
    /** Built here, for this processor. */
    NATIVE,
    /** A package without a build, for any processor. */
    PACKAGED
  }

  @Option(
      names = "--peer",
      paramLabel = "KIND",
      defaultValue = "native",
      description = {
        "native: build llama.cpp for this processor, about ten CPU minutes, once.",
        "packaged: a package, a few percent slower, server only. Default: ${DEFAULT-VALUE}."
      })
  Kind kind = Kind.NATIVE;

  @Option(
      names = "--peer-dir",
      paramLabel = "FOLDER",
      defaultValue = "${env:FIRSTLIGHT_PEER:-" + Option.NULL_VALUE + "}",
      description = "Where llama.cpp's programs lie already. Default: $$FIRSTLIGHT_PEER.")
  @Nullable Path folder;

  /** The same on a command line. */
  List<String> arguments() {
    List<String> arguments = new ArrayList<>(List.of("--peer=" + kind));
    if (folder != null) {
      arguments.add("--peer-dir=" + folder);
    }
    return arguments;
  }

  /** Whether it has programs that measure the engine alone; a package has a server only. */
  boolean hasEngine() {
    return folder != null || kind == Kind.NATIVE;
  }
}
