/**
 * The launcher: reads the configuration, starts what the node needs, and is the whole system or one
 * node of a mesh.
 *
 * <ul>
 *   <li>{@link firstlight.app.Main}: the command line.
 *   <li>{@link firstlight.app.NodeConfig}: the whole configuration, checked.
 *   <li>{@link firstlight.app.EmbeddedServices}: PostgreSQL, Redis, Kafka and an object store for
 *       the one-command default.
 *   <li>{@link firstlight.app.LakeServices}: where the lake is, for the {@code lake} commands.
 *   <li>{@link firstlight.app.Node}: a running node: models, Vert.x, verticles by role.
 * </ul>
 */
@NullMarked
package firstlight.app;

import org.jspecify.annotations.NullMarked;
