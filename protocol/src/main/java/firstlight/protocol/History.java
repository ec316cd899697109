package firstlight.protocol;

import java.util.List;

/** The turns of a conversation up to the one asked for, oldest first. */
public record History(List<StoredTurn> turns) implements FromSession {
  public History {
    turns = List.copyOf(turns);
  }
}
