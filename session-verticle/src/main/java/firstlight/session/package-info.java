/**
 * Stored conversations: turns, linked to their parents, kept for as long as their tenant wants.
 *
 * <ul>
 *   <li>{@link firstlight.session.SessionVerticle} answers the messages of the family {@link
 *       firstlight.protocol.ToSession}.
 *   <li>{@link firstlight.session.Histories} finds, keeps and forgets across the tiers.
 *   <li>{@link firstlight.session.Conversations} answers for heads that move along such turns,
 *       which are in the {@link firstlight.session.PostgresConversationStore} only.
 *   <li>A tier is a {@link firstlight.session.TurnStore}: {@link firstlight.session.LocalTurnStore}
 *       (this node's memory), {@link firstlight.session.RedisTurnStore} (the region's, in the
 *       {@link firstlight.session.TurnFormat}, behind a {@link
 *       firstlight.session.SparableTurnStore} because it may be away) and {@link
 *       firstlight.session.PostgresTurnStore} (the truth, whose tables {@link
 *       firstlight.session.Schema} makes).
 *   <li>Deciding without doing: {@link firstlight.session.Lineage} puts a chain together within its
 *       {@link firstlight.session.Allowance}; {@link firstlight.session.Outage} says when to try a
 *       lost tier again, and {@link firstlight.session.Lookout} tries PostgreSQL so; {@link
 *       firstlight.session.SingleFlight} joins equal look-ups of a node; {@link
 *       firstlight.session.UnknownTurns} remembers for a moment what does not exist.
 * </ul>
 *
 * <p>Why nothing is ever overwritten: a turn never changes, so two copies of it are equal wherever
 * they lie, and two turns that build on the same parent are two branches of a tree. The one change
 * is deletion. It leaves a marker in the caches for longer than any look-up takes, so that a
 * look-up which read the turn just before cannot put it back.
 */
@NullMarked
package firstlight.session;

import org.jspecify.annotations.NullMarked;
