package firstlight.protocol;

/** The turn is gone from every tier. */
public record TurnDeleted(ResponseId response) implements FromSession {}
