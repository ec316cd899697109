package firstlight.edge;

/** Hears of one turn, on the verticle's event loop, never from inside {@link Turns#start}. */
@FunctionalInterface
interface TurnListener {
  void on(TurnEvent event);
}
