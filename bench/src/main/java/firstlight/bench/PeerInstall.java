package firstlight.bench;

import firstlight.model.CacheFolder;
import java.nio.file.Path;
import java.util.List;

/** Gets the peer's programs onto this machine, unless they are there. */
final class PeerInstall {
  private PeerInstall() {}

  /**
   * The folder that was named, or the one it is built into when none was.
   *
   * @throws BenchFailure they are not there and can not be got
   */
  static Peer find(PeerOptions options, Progress progress) {
    Path named = options.folder;
    if (named != null) {
      return Peer.in(named);
    }
    return new PeerBuild(CacheFolder.ofUser().resolve("peer"), progress).peer();
  }

  /** What runs llama.cpp's server; its own options follow. */
  static List<String> serverCommand(PeerOptions options, Progress progress) {
    if (options.folder == null && options.kind == PeerOptions.Kind.PACKAGED) {
      return new PackagedPeer(CacheFolder.ofUser().resolve("peer"), progress).serverCommand();
    }
    return List.of(find(options, progress).program("llama-server"));
  }
}
