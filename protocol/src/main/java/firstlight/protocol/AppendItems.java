package firstlight.protocol;

/**
 * Asks to add Items; the answer is {@link ConversationFound}. Of several at once each is added, one
 * after the other. Asking again changes nothing.
 *
 * @param items whose parent is what the conversation's head was when it was looked at; it is stored
 *     with what the head is when it is added
 */
public record AppendItems(ConversationId conversation, StoredTurn items) implements ToConversation {
  @Override
  public TenantId tenant() {
    return items.tenant();
  }
}
