package firstlight.protocol;

/**
 * The device works for the replica that asked.
 *
 * @param address where its {@link RunStep}s go
 */
public record DeviceClaimed(String address, DeviceCapacity capacity) implements FromDevice {}
