package firstlight.protocol;

/** A replica asks a device to work for it alone; the answer is {@link DeviceClaimed}. */
public record ClaimDevice(ReplicaId replica) implements ToDevice {}
