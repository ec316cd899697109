package firstlight.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** llama.cpp's server from a Python package, for machines without a compiler. */
record PackagedPeer(Path folder, Progress progress) {
  private static final String PACKAGE = "xllamacpp==2026.10.11549";

  /** Takes the options of llama-server that {@link PeerServer} uses. */
  private static final String SCRIPT =
      """
      import argparse, signal, threading
      import xllamacpp
      options = argparse.ArgumentParser()
      for name, kind in (("-m", str), ("--host", str), ("--port", int), ("-t", int),
                         ("--parallel", int), ("-c", int)):
          options.add_argument(name, type=kind, required=True)
      given = options.parse_args()
      params = xllamacpp.CommonParams()
      params.model.path = given.m
      params.hostnames = [given.host]
      params.port = given.port
      params.cpuparams.n_threads = given.t
      params.cpuparams_batch.n_threads = given.t
      params.n_parallel = given.parallel
      params.n_ctx = given.c
      server = xllamacpp.Server(params)
      signal.sigwait({signal.SIGTERM, signal.SIGINT})
      """;

  List<String> serverCommand() {
    Path environment = folder.resolve("packaged");
    Path python = environment.resolve("bin/python");
    if (!Files.isRegularFile(environment.resolve("installed"))) {
      progress.say("getting %s", PACKAGE);
      Path log = folder.resolve("packaged.log");
      Child.run(List.of("python3", "-m", "venv", environment.toString()), log);
      Child.run(
          List.of(
              python.toString(),
              "-m",
              "pip",
              "install",
              "--disable-pip-version-check",
              "-q",
              "--only-binary",
              ":all:",
              PACKAGE),
          log);
      write(environment.resolve("installed"), PACKAGE);
    }
    Path script = environment.resolve("serve.py");
    write(script, SCRIPT);
    return List.of(python.toString(), script.toString());
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new BenchFailure("%s can not be written: %s".formatted(file, e.getMessage()), e);
    }
  }
}
