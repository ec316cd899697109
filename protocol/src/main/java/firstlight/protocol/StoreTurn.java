package firstlight.protocol;

/**
 * Asks to keep a turn; once {@link TurnStored} is back it is durable. Storing it again changes
 * nothing.
 */
public record StoreTurn(StoredTurn turn) implements ToSession {}
