package firstlight.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A disk whose size can be changed while it is used, where the system lets us make one. */
final class SmallDisk implements AutoCloseable {
  private static final long MIB = 1 << 20;

  private final Path folder;

  private SmallDisk(Path folder) {
    this.folder = folder;
  }

  /** Whether this user may make one. */
  static boolean canBeMade() throws Exception {
    Path probe = Files.createTempDirectory("disk");
    try {
      boolean made = run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", probe.toString());
      return made && run("umount", "-l", probe.toString());
    } finally {
      Files.deleteIfExists(probe);
    }
  }

  static SmallDisk mount(Path folder, long mebibytes) throws Exception {
    Files.createDirectories(folder);
    String size = "size=%dm".formatted(mebibytes);
    if (!run("mount", "-t", "tmpfs", "-o", size, "tmpfs", folder.toString())) {
      throw new IOException("a disk can not be mounted at " + folder);
    }
    SmallDisk disk = new SmallDisk(folder);
    Runtime.getRuntime().addShutdownHook(new Thread(disk::unmount));
    return disk;
  }

  Path folder() {
    return folder;
  }

  /** Leaves so many bytes of room beyond what is used now. */
  void leave(long bytes) throws Exception {
    var store = Files.getFileStore(folder);
    long used = store.getTotalSpace() - store.getUnallocatedSpace();
    resize(used + bytes);
  }

  long free() throws IOException {
    return Files.getFileStore(folder).getUnallocatedSpace();
  }

  void grow(long mebibytes) throws Exception {
    resize(mebibytes * MIB);
  }

  private void resize(long bytes) throws Exception {
    if (!run("mount", "-o", "remount,size=" + bytes, folder.toString())) {
      throw new IOException("the disk at %s does not become %d bytes".formatted(folder, bytes));
    }
  }

  private static boolean run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start()
            .waitFor()
        == 0;
  }

  /** Also when the tests are cut off. */
  private void unmount() {
    try {
      close();
    } catch (Exception e) {
      throw new IllegalStateException("%s stays mounted".formatted(folder), e);
    }
  }

  @Override
  public void close() throws IOException {
    try {
      run("umount", "-l", folder.toString());
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }
}
