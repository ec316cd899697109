package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.edge.EdgeModels;
import firstlight.model.Model;
import java.util.function.ObjIntConsumer;

/**
 * Runs a script, line by line. At the end, whatever the script says, the mesh must be idle, every
 * chat must have ended once or been left, all that came must be what the glass device says, and the
 * devices must have been treated well.
 */
final class ScriptRun implements AutoCloseable {
  private final ScriptMesh mesh;
  private final ScriptClient client;
  private final ScriptExpectations expectations;
  private final GlassOracle oracle;

  ScriptRun(ScriptMode mode, Model model, EdgeModels edgeModels) {
    mesh = new ScriptMesh(mode, model, edgeModels);
    client = new ScriptClient(mesh.address());
    expectations = new ScriptExpectations(mesh, client);
    oracle = new GlassOracle(model);
  }

  void run(MeshScript script) {
    MeshScript.Line last = script.lines().getLast();
    for (MeshScript.Line line : script.lines()) {
      attempt(line.toString(), () -> run(line.words()));
    }
    attempt(last.script() + ", at its end", this::checkAll);
  }

  private interface Part {
    void run() throws Exception;
  }

  private void attempt(String where, Part part) {
    try {
      part.run();
    } catch (Exception | AssertionError e) {
      StringBuilder state = new StringBuilder();
      client.all().forEach(chat -> state.append("\n  ").append(chat));
      throw new AssertionError(where + "\n" + e.getMessage() + "\nchats:" + state, e);
    }
  }

  private void run(Words words) throws Exception {
    String verb = words.take();
    switch (verb) {
      case "replica" -> mesh.start(ScriptReplica.of(words));
      case "device" -> mesh.replaceDevice(words.take());
      case "stop" -> mesh.stop(words.take());
      case "kill" -> after(words, FaultyDevice::dieAfter);
      case "hang" -> after(words, FaultyDevice::hangAfter);
      case "stall" -> after(words, FaultyDevice::stallAfter);
      case "resume" -> mesh.device(words.take()).resume();
      case "chat" -> client.send(ScriptChat.Request.of(words.take(), words.take(), words));
      case "crowd" -> crowd(words);
      case "cancel" -> client.leave(words.take());
      case "read" -> client.read(words.take());
      case "expect" -> expectations.expect(words);
      default -> throw new IllegalArgumentException("\"" + verb + "\" is not a command");
    }
    words.end();
  }

  private void after(Words words, ObjIntConsumer<FaultyDevice> fault) {
    fault.accept(mesh.device(words.take()), words.option("after-steps", 0));
  }

  /** Each with a text of its own. */
  private void crowd(Words words) {
    String name = words.take();
    int count = words.number();
    String text = words.take();
    ScriptChat.Request all = ScriptChat.Request.of(name, text, words);
    for (int i = 1; i <= count; i++) {
      client.send(all.numbered(i));
    }
  }

  private void checkAll() throws Exception {
    for (ScriptChat chat : client.all()) {
      if (!client.left(chat.request().name())) {
        Eventually.holds(ScriptExpectations.LIMIT, chat + " ends", chat::ended);
      }
    }
    expectations.expectIdle();
    assertThat(client.all()).filteredOn(ScriptChat::late).as("ended more than once").isEmpty();
    client.all().forEach(oracle::check);
  }

  @Override
  public void close() {
    client.close();
    mesh.close();
  }
}
