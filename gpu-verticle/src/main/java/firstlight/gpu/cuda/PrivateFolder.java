package firstlight.gpu.cuda;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** A folder in which only its owner may write, since what lies in it is run. */
final class PrivateFolder {
  private PrivateFolder() {}

  /**
   * The folder of a name, made when it is missing.
   *
   * @throws IOException it can not be made, or others may write in it
   */
  static Path in(Path parent, String name) throws IOException {
    Files.createDirectories(parent);
    Path folder = parent.resolve(name);
    try {
      Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException _) {
      // Made before, by us or by another process of the same user: that is looked at now.
    }
    if (!isSafe(folder)) {
      throw new IOException(folder + " can be written by others: chmod 700 it, or remove it");
    }
    return folder;
  }

  /** Whether nobody but its owner may write in a folder. */
  static boolean isSafe(Path folder) throws IOException {
    Set<PosixFilePermission> allowed = Files.getPosixFilePermissions(folder);
    return !allowed.contains(PosixFilePermission.GROUP_WRITE)
        && !allowed.contains(PosixFilePermission.OTHERS_WRITE);
  }

  /** Writes a file so that whoever reads meanwhile finds the old one or the new one, whole. */
  static void write(Path file, byte[]... parts) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    Path half = Files.createTempFile(folder, file.getFileName().toString(), ".half");
    try {
      try (var out = Files.newOutputStream(half)) {
        for (byte[] part : parts) {
          out.write(part);
        }
      }
      Files.move(half, file, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(half);
    }
  }
}
