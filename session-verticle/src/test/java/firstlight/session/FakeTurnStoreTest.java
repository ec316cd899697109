package firstlight.session;

/** The double keeps the promises of what it stands for. */
final class FakeTurnStoreTest extends TurnStoreContract {
  private final FakeTurnStore store = new FakeTurnStore();

  @Override
  TurnStore store() {
    return store;
  }
}
