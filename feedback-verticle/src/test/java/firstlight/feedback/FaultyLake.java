package firstlight.feedback;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A store that is cut off at a chosen moment. */
final class FaultyLake implements LakeStore {
  private final LakeStore store;
  private final Cutoff cutoff;

  FaultyLake(LakeStore store, Cutoff cutoff) {
    this.store = store;
    this.cutoff = cutoff;
  }

  @Override
  public void prepare() throws IOException {
    store.prepare();
  }

  @Override
  public boolean create(String name, Path content) throws IOException {
    cutoff.check();
    boolean created = store.create(name, content);
    cutoff.passed();
    return created;
  }

  @Override
  public boolean create(String name, byte[] content) throws IOException {
    cutoff.check();
    boolean created = store.create(name, content);
    cutoff.passed();
    return created;
  }

  @Override
  public byte @Nullable [] read(String name) throws IOException {
    cutoff.check();
    return store.read(name);
  }

  @Override
  public void fetch(String name, Path to) throws IOException {
    cutoff.check();
    store.fetch(name, to);
  }

  @Override
  public void delete(String name) throws IOException {
    cutoff.check();
    store.delete(name);
  }

  @Override
  public String uri(String name) {
    return store.uri(name);
  }

  @Override
  public void close() {
    store.close();
  }
}
