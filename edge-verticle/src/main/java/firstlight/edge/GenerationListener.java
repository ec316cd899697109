package firstlight.edge;

import firstlight.protocol.MeshException;
import firstlight.protocol.wire.Emission;
import firstlight.protocol.wire.Ending;

/** Hears what a replica says about one generation. After a refusal or an ending comes nothing. */
interface GenerationListener {
  void emitted(Emission emission);

  /** Not admitted, failed there, or the replica is gone. */
  void refused(MeshException failure);

  void ended(Ending ending);
}
