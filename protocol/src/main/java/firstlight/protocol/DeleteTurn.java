package firstlight.protocol;

/** Asks to forget a turn; turns that build on it stay. */
public record DeleteTurn(TenantId tenant, ResponseId response) implements ToSession {}
