package firstlight.feedback;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A store in a folder. */
final class FolderLake implements LakeStore {
  private final Path folder;

  FolderLake(Path folder) {
    this.folder = folder;
  }

  List<String> names() throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile)
          .map(path -> folder.relativize(path).toString())
          .sorted()
          .toList();
    }
  }

  @Override
  public void prepare() {}

  @Override
  public boolean create(String name, Path content) throws IOException {
    return create(name, Files.readAllBytes(content));
  }

  @Override
  public boolean create(String name, byte[] content) throws IOException {
    Files.createDirectories(folder.resolve(name).getParent());
    try {
      Files.write(folder.resolve(name), content, StandardOpenOption.CREATE_NEW);
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    }
  }

  @Override
  public byte @Nullable [] read(String name) throws IOException {
    return Files.exists(folder.resolve(name)) ? Files.readAllBytes(folder.resolve(name)) : null;
  }

  @Override
  public void fetch(String name, Path to) throws IOException {
    Files.write(to, Files.readAllBytes(folder.resolve(name)));
  }

  @Override
  public void delete(String name) throws IOException {
    Files.deleteIfExists(folder.resolve(name));
  }

  @Override
  public String uri(String name) {
    return folder.resolve(name).toUri().toString();
  }

  @Override
  public void close() {}
}
