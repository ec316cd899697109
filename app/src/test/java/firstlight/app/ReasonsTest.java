package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.BindException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class ReasonsTest {
  @Test
  void each_failure_has_one_line_with_its_remedy() {
    assertThat(Reasons.of(new BindException("Address already in use: /127.0.0.1:8080")))
        .isEqualTo(
            "a port is taken (Address already in use: /127.0.0.1:8080). Choose another with"
                + " --port.");
    assertThat(Reasons.of(new AccessDeniedException("/data")))
        .isEqualTo("no permission for /data. Choose another folder or change its owner.");
    assertThat(Reasons.of(new FileSystemException("/data/x", null, "No space left on device")))
        .isEqualTo("the disk is full (/data/x). Free some space and start again.");
    assertThat(Reasons.of(new NoSuchFileException("/x"))).isEqualTo("/x does not exist");
  }

  @Test
  void wrappers_are_taken_off() {
    assertThat(
            Reasons.of(
                new ExecutionException(new CompletionException(new StartFailure("this and that")))))
        .isEqualTo("this and that");
    assertThat(Reasons.of(new IllegalStateException(null, new IllegalArgumentException("why"))))
        .isEqualTo("why");
  }
}
