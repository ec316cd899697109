package firstlight.gpu.cuda;

import java.io.IOException;

/** Builds the simulated driver and says where it is, for processes that find it by its name. */
final class SimulatedDriverMain {
  private SimulatedDriverMain() {}

  public static void main(String[] arguments) throws IOException {
    System.out.println(SimulatedDriver.built());
  }
}
