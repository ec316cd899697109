package firstlight.protocol;

import org.jspecify.annotations.Nullable;

/**
 * Asks to keep a turn; once {@link TurnStored} is back it is durable. Storing it again changes
 * nothing.
 *
 * @param append where its Items go as well, or neither is stored
 */
public record StoreTurn(StoredTurn turn, @Nullable ConversationAppend append)
    implements ToSession {}
