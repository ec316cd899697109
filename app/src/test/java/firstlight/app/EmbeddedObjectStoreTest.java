package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedObjectStoreTest {
  @Test
  void a_connection_that_is_kept_open_does_not_hold_the_stop_up(@TempDir Path folder)
      throws Exception {
    int port = FreePorts.find(1).getFirst();
    EmbeddedObjectStore store = new EmbeddedObjectStore(folder, port);
    store.start();
    try (Socket idle = new Socket("127.0.0.1", port)) {
      idle.getOutputStream()
          .write(
              "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
                  .getBytes(java.nio.charset.StandardCharsets.US_ASCII));
      assertThat(idle.getInputStream().read()).as("it answers").isEqualTo('H');

      store.close(); // without an exception

      int last = 'H';
      while (last >= 0) {
        last = idle.getInputStream().read();
      }
      assertThat(last).as("the connection ends").isEqualTo(-1);
    }
  }
}
