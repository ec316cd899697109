package firstlight.app;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** The project's source files, read as text and as syntax trees. */
final class Sources {
  /** A method and how many lines and parameters it has. */
  record Method(String file, String name, long lines, int parameters) {}

  private Sources() {}

  static Path root() {
    return Path.of(System.getProperty("firstlight.root", ".."));
  }

  /** All Java files that we wrote, tests included. */
  static List<Path> java() {
    try (Stream<Path> modules = Files.list(root())) {
      return modules
          .map(module -> module.resolve("src"))
          .filter(Files::isDirectory)
          .flatMap(Sources::javaBelow)
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Stream<Path> javaBelow(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String name(Path file) {
    return root().relativize(file).toString();
  }

  /** Every method with a body. */
  static List<Method> methods(List<Path> files) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<Method> methods = new ArrayList<>();
    try (StandardJavaFileManager manager =
        compiler.getStandardFileManager(null, Locale.ROOT, null)) {
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null, manager, null, null, null, manager.getJavaFileObjectsFromPaths(files));
      SourcePositions positions = Trees.instance(task).getSourcePositions();
      for (CompilationUnitTree unit : task.parse()) {
        new MethodScanner(unit, positions, methods).scan(unit, null);
      }
    }
    return methods;
  }

  private static final class MethodScanner extends TreePathScanner<Void, Void> {
    private final CompilationUnitTree unit;
    private final SourcePositions positions;
    private final List<Method> methods;

    MethodScanner(CompilationUnitTree unit, SourcePositions positions, List<Method> methods) {
      this.unit = unit;
      this.positions = positions;
      this.methods = methods;
    }

    @Override
    public Void visitMethod(MethodTree method, Void unused) {
      if (method.getBody() != null) {
        long first = line(positions.getStartPosition(unit, method.getBody()));
        long last = line(positions.getEndPosition(unit, method.getBody()));
        methods.add(
            new Method(
                name(Path.of(unit.getSourceFile().getName())),
                method.getName().toString(),
                last - first + 1,
                ofRecord() ? 0 : method.getParameters().size()));
      }
      return super.visitMethod(method, unused);
    }

    /** A record may have as many components as it needs: they are named where they are read. */
    private boolean ofRecord() {
      return getCurrentPath().getParentPath().getLeaf().getKind() == Tree.Kind.RECORD;
    }

    private long line(long position) {
      return unit.getLineMap().getLineNumber(position);
    }
  }
}
