package firstlight.feedback;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A store that is cut off at a chosen moment, for some calls or for ever. */
final class FaultyLake implements LakeStore {
  private final LakeStore store;
  private final AtomicInteger createsLeft;
  private final AtomicInteger failuresLeft;

  /**
   * @param creates so many objects are made; the answer to the last one does not come back any more
   * @param failures then so many calls fail, before all is well again
   */
  FaultyLake(LakeStore store, int creates, int failures) {
    this.store = store;
    createsLeft = new AtomicInteger(creates);
    failuresLeft = new AtomicInteger(failures);
  }

  boolean cutOff() {
    return createsLeft.get() <= 0;
  }

  boolean healed() {
    return failuresLeft.get() <= 0;
  }

  @Override
  public void prepare() throws IOException {
    store.prepare();
  }

  @Override
  public boolean create(String name, Path content) throws IOException {
    check();
    boolean created = store.create(name, content);
    passed();
    return created;
  }

  @Override
  public boolean create(String name, byte[] content) throws IOException {
    check();
    boolean created = store.create(name, content);
    passed();
    return created;
  }

  @Override
  public byte @Nullable [] read(String name) throws IOException {
    check();
    return store.read(name);
  }

  @Override
  public void fetch(String name, Path to) throws IOException {
    check();
    store.fetch(name, to);
  }

  @Override
  public void delete(String name) throws IOException {
    check();
    store.delete(name);
  }

  @Override
  public void close() {
    store.close();
  }

  private void check() throws IOException {
    if (cutOff() && failuresLeft.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      throw new IOException("cut off");
    }
  }

  private void passed() throws IOException {
    if (createsLeft.decrementAndGet() == 0) {
      throw new IOException("cut off before the answer came");
    }
  }
}
