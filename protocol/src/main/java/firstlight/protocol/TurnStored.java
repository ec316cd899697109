package firstlight.protocol;

/** The turn is durable. */
public record TurnStored(ResponseId response) implements FromSession {}
