package firstlight.feedback;

import firstlight.lake.EventDecoder;
import firstlight.lake.LakeFile;
import firstlight.lake.LakeKind;
import firstlight.protocol.wire.Event;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.Schema;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A range of records of one partition on its way into files. Blocks: for worker threads only, one
 * at a time.
 */
final class OpenBatch {
  private static final Logger LOG = LoggerFactory.getLogger(OpenBatch.class);

  private final BatchName name;
  private final ParquetRoller roller;
  private final Schemas schemas;
  private final Path spool;
  private final long rowGroupBytes;
  private final Map<LakeFolder, ParquetFileWriter> writers = new LinkedHashMap<>();
  private final List<Path> paths = new ArrayList<>();
  private final List<Dead> dead = new ArrayList<>();
  private final Map<Path, LakeFile> uploaded = new HashMap<>();
  private List<ParquetFileWriter.Finished> files = List.of();
  private boolean finished;
  private boolean closed;
  private long newest = Long.MIN_VALUE;

  /** A record that is no Event. */
  record Dead(ConsumerRecord<byte[], byte[]> record, EventDecoder.Poison reason) {}

  /** What schema the files of a kind have. */
  interface Schemas {
    Schema of(LakeKind kind) throws IOException;
  }

  /** What brings a file into the lake. */
  interface Upload {
    LakeFile run() throws IOException;
  }

  OpenBatch(BatchName name, ParquetRoller roller, Schemas schemas, Path spool, long rowGroupBytes) {
    this.name = name;
    this.schemas = schemas;
    this.roller = roller;
    this.spool = spool;
    this.rowGroupBytes = rowGroupBytes;
  }

  /**
   * Takes records, in the order of their offsets.
   *
   * @return how many were taken; when not all, the batch is complete
   */
  int append(List<ConsumerRecord<byte[], byte[]>> records) throws IOException {
    int taken = 0;
    while (taken < records.size() && !roller.full() && !closed) {
      if (!append(records.get(taken))) {
        closed = true;
        return taken;
      }
      taken++;
    }
    closed |= roller.full();
    return taken;
  }

  private boolean append(ConsumerRecord<byte[], byte[]> record) throws IOException {
    int size = record.value() == null ? 0 : record.value().length;
    return switch (EventDecoder.decode(record.value())) {
      case EventDecoder.Good good -> {
        LakeFolder folder = LakeFolder.of(good.kind(), good.event().getTime());
        yield roller.take(record.offset(), folder, size) && write(folder, good.event(), record);
      }
      case EventDecoder.Bad bad -> {
        boolean taken = roller.take(record.offset(), null, size);
        if (taken) {
          dead.add(new Dead(record, bad.reason()));
        }
        yield taken;
      }
    };
  }

  private boolean write(LakeFolder folder, Event event, ConsumerRecord<byte[], byte[]> record)
      throws IOException {
    ParquetFileWriter writer = writers.get(folder);
    if (writer == null) {
      Path path =
          spool.resolve("%d-%d-%d.parquet".formatted(name.partition(), name.first(), paths.size()));
      paths.add(path);
      writer = new ParquetFileWriter(folder, path, schemas.of(folder.kind()), rowGroupBytes);
      writers.put(folder, writer);
    }
    writer.write(new LakeRow(event, record.partition(), record.offset()));
    if (folder.sane()) {
      newest = Math.max(newest, event.getTime());
    }
    return true;
  }

  /** Closes the files; calling it again does nothing. */
  List<ParquetFileWriter.Finished> finish() throws IOException {
    if (!finished) {
      List<ParquetFileWriter.Finished> done = new ArrayList<>();
      for (ParquetFileWriter writer : writers.values()) {
        done.add(writer.finish());
      }
      writers.clear();
      files = List.copyOf(done);
      finished = true;
    }
    return files;
  }

  /** A finished file in the lake; it is brought there the first time only. */
  LakeFile uploaded(ParquetFileWriter.Finished file, Upload upload) throws IOException {
    LakeFile there = uploaded.get(file.path());
    if (there == null) {
      there = upload.run();
      uploaded.put(file.path(), there);
    }
    return there;
  }

  /** Deletes what lies on the local disk. */
  void discard() {
    writers.values().forEach(ParquetFileWriter::abandon);
    writers.clear();
    for (Path path : paths) {
      try {
        Files.deleteIfExists(path);
      } catch (IOException e) {
        LOG.warn("a finished spool file could not be deleted: {}", e.toString());
      }
    }
  }

  BatchName name() {
    return name;
  }

  ParquetRoller roller() {
    return roller;
  }

  /** Whether nothing more is taken. */
  boolean complete() {
    return closed;
  }

  List<Dead> dead() {
    return dead;
  }

  /** The finished files. */
  List<ParquetFileWriter.Finished> files() {
    return files;
  }

  /** Unix time, ms, of the newest Event with a sane time; Long.MIN_VALUE when there is none. */
  long newest() {
    return newest;
  }
}
