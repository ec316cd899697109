package firstlight.lake;

import java.sql.SQLException;
import org.apache.iceberg.exceptions.NotFoundException;
import software.amazon.awssdk.core.exception.SdkException;

/** The lake can not be read, and this one sentence says why and what helps. */
public final class LakeFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  public LakeFailure(String message) {
    super(message, null, false, false);
  }

  public LakeFailure(String message, Throwable cause) {
    super(message, cause);
  }

  /** Says which service is away, if that is what has happened; else what is known of it. */
  public static LakeFailure of(Exception failure, LakeConfig config) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      switch (cause) {
        case LakeFailure known -> {
          return known;
        }
        case NotFoundException gone -> {
          return new LakeFailure(
              "a file of the lake went away while it was copied (%s). Ask again."
                  .formatted(firstLine(gone)),
              failure);
        }
        case SQLException away when !(failure instanceof SQLException) -> {
          return new LakeFailure(
              "the lake's catalog %s does not answer: %s. Is PostgreSQL up? See lake.catalog."
                  .formatted(config.catalog().jdbc(), firstLine(away)),
              failure);
        }
        case SdkException away -> {
          return new LakeFailure(
              "the lake's object store %s does not answer: %s. Is it up? See lake.s3."
                  .formatted(config.s3().endpoint(), firstLine(away)),
              failure);
        }
        default -> {}
      }
    }
    return LakeReader.failure(failure);
  }

  private static String firstLine(Exception failure) {
    String message = String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
    return message.endsWith(".") ? message.substring(0, message.length() - 1) : message;
  }
}
