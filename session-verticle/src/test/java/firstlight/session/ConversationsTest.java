package firstlight.session;

import static firstlight.session.Samples.turn;
import static firstlight.session.SessionMesh.refusal;
import static firstlight.session.Wait.result;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.AppendItems;
import firstlight.protocol.ChangeConversation;
import firstlight.protocol.ConversationAppend;
import firstlight.protocol.ConversationDeleted;
import firstlight.protocol.ConversationFound;
import firstlight.protocol.ConversationId;
import firstlight.protocol.CreateConversation;
import firstlight.protocol.DeleteConversation;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FindConversation;
import firstlight.protocol.MeshException;
import firstlight.protocol.RemoveItem;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoreTurn;
import firstlight.protocol.StoredConversation;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import firstlight.protocol.TurnStored;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two nodes of two instances each, with the real services. Each test has a tenant of its own. */
@ExtendWith(RealServices.Extension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ConversationsTest {
  private static final int EVERYBODY = 4;
  private static final ConversationId ID = new ConversationId("conv_1");

  private final SessionMesh mesh = new SessionMesh();
  private final RealServices services;

  ConversationsTest(RealServices services) {
    this.services = services;
    mesh.addNode(services.config(), 2);
    mesh.addNode(services.config(), 2);
  }

  @AfterAll
  void close() {
    mesh.close();
  }

  @Test
  void a_new_conversation_is_empty_and_found_by_everybody() {
    StoredConversation made = create("c-new");
    assertThat(made)
        .isEqualTo(
            new StoredConversation(ID, tenant("c-new"), 7, "{\"a\":\"b\"}", null, List.of()));
    for (int i = 0; i < EVERYBODY; i++) {
      assertThat(conversation("c-new")).isEqualTo(made);
    }
    append("c-new", "i1");
    assertThat(create("c-new").head()).isEqualTo(new ResponseId("i1"));
  }

  @Test
  void what_one_adds_is_seen_by_all_at_once_although_all_had_looked_before() {
    create("c-seen");
    for (int round = 1; round <= 8; round++) {
      append("c-seen", "i" + round);
      for (int i = 0; i < EVERYBODY; i++) {
        assertThat(ids("c-seen")).hasSize(round).last().isEqualTo("i" + round);
      }
    }
  }

  @Test
  void of_many_that_add_at_once_each_is_there_once() {
    create("c-crowd");
    List<Future<ConversationFound>> asks =
        IntStream.range(0, 40).mapToObj(i -> ask("c-crowd", "i" + i)).toList();
    asks.forEach(Wait::result);
    assertThat(ids("c-crowd"))
        .containsExactlyInAnyOrderElementsOf(
            IntStream.range(0, 40).mapToObj(i -> "i" + i).toList());
  }

  @Test
  void items_and_responses_that_come_at_once_are_all_there() {
    create("c-both");
    List<Future<?>> asks = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      asks.add(ask("c-both", "i" + i));
      asks.add(store("c-both", "r" + i, null));
    }
    asks.forEach(Wait::result);
    assertThat(ids("c-both")).hasSize(20).doesNotHaveDuplicates().contains("i9", "r9.items");
  }

  @Test
  void adding_the_same_again_changes_nothing() {
    create("c-again");
    for (int i = 0; i < EVERYBODY; i++) {
      append("c-again", "i1");
      result(store("c-again", "r1", null));
    }
    assertThat(ids("c-again")).containsExactly("i1", "r1.items");
  }

  @Test
  void a_response_keeps_what_it_built_on_and_its_items_come_after_what_came_meanwhile() {
    create("c-meanwhile");
    append("c-meanwhile", "i1");
    append("c-meanwhile", "i2");
    result(store("c-meanwhile", "r1", "i1"));
    assertThat(ids("c-meanwhile")).containsExactly("i1", "i2", "r1.items");
    assertThat(turnIds("c-meanwhile", "r1")).containsExactly("i1", "r1");
    StoredTurn own = mesh.turns("c-meanwhile", "r1.items").getLast();
    assertThat(own.input()).isEqualTo(turn("c-meanwhile", "r1", null).input());
    assertThat(own.output()).isEqualTo(turn("c-meanwhile", "r1", null).output());
    assertThat(own.resource()).isEmpty();
  }

  @Test
  void a_response_to_a_conversation_that_is_gone_is_not_stored() {
    assertNotFound(store("c-gone", "r1", null));
    assertThat(refusal(mesh.find("c-gone", "r1")).kind()).isEqualTo(FailureKind.NOT_FOUND);
  }

  @Test
  void a_deleted_response_leaves_its_items() {
    create("c-leaves");
    result(store("c-leaves", "r1", null));
    result(mesh.delete("c-leaves", "r1"));
    assertThat(ids("c-leaves")).containsExactly("r1.items");
  }

  @Test
  void a_deleted_conversation_is_gone_for_everybody_with_its_turns_and_without_its_responses() {
    create("c-deleted");
    append("c-deleted", "i1");
    result(store("c-deleted", "r1", null));
    result(mesh.ask(new RemoveItem(tenant("c-deleted"), ID, "msg_1")));
    for (int i = 0; i < EVERYBODY; i++) {
      assertThat(ids("c-deleted")).hasSize(2);
    }
    ConversationDeleted deleted = result(mesh.ask(new DeleteConversation(tenant("c-deleted"), ID)));
    assertThat(deleted.conversation()).isEqualTo(ID);
    for (int i = 0; i < EVERYBODY; i++) {
      assertNotFound(mesh.ask(new FindConversation(tenant("c-deleted"), ID)));
      assertNotFound(ask("c-deleted", "i2"));
      assertThat(refusal(mesh.find("c-deleted", "i1")).kind()).isEqualTo(FailureKind.NOT_FOUND);
      assertThat(refusal(mesh.find("c-deleted", "r1.items")).kind())
          .isEqualTo(FailureKind.NOT_FOUND);
      assertThat(turnIds("c-deleted", "r1")).containsExactly("r1");
    }
    assertNotFound(mesh.ask(new DeleteConversation(tenant("c-deleted"), ID)));
    assertThat(create("c-deleted").removed()).isEmpty();
  }

  @Test
  void whoever_adds_while_it_is_deleted_is_in_or_out_but_leaves_nothing() {
    for (int round = 0; round < 10; round++) {
      create("c-race");
      List<Future<ConversationFound>> adds =
          IntStream.range(0, 4).mapToObj(i -> ask("c-race", "i" + i)).toList();
      Future<ConversationDeleted> deleted = mesh.ask(new DeleteConversation(tenant("c-race"), ID));
      adds.forEach(add -> result(add.map(true).otherwise(false)));
      result(deleted);
      try (SessionMesh cold = new SessionMesh()) {
        services.stopRedis();
        services.startRedis();
        cold.addNode(services.config(), 1);
        for (int i = 0; i < 4; i++) {
          assertThat(refusal(cold.find("c-race", "i" + i)).kind()).isEqualTo(FailureKind.NOT_FOUND);
        }
      }
    }
  }

  @Test
  void another_tenants_conversation_and_one_that_never_was_give_the_same_answer() {
    create("c-owner");
    append("c-owner", "i1");
    for (TenantId tenant : List.of(tenant("c-stranger"), tenant("c-nobody"))) {
      assertNotFound(mesh.ask(new FindConversation(tenant, ID)));
      assertNotFound(mesh.ask(new ChangeConversation(tenant, ID, "{}")));
      assertNotFound(mesh.ask(new RemoveItem(tenant, ID, "msg_1")));
      assertNotFound(mesh.ask(new DeleteConversation(tenant, ID)));
      assertNotFound(ask(tenant.value(), "i2"));
      assertNotFound(store(tenant.value(), "r2", null));
    }
    assertThat(conversation("c-owner").metadata()).isEqualTo("{\"a\":\"b\"}");
    assertThat(conversation("c-owner").removed()).isEmpty();
    assertThat(ids("c-owner")).containsExactly("i1");
  }

  @Test
  void metadata_and_removed_items_are_seen_by_all_at_once() {
    create("c-changed");
    for (int round = 0; round < EVERYBODY; round++) {
      String metadata = "{\"round\":\"%d\"}".formatted(round);
      result(mesh.ask(new ChangeConversation(tenant("c-changed"), ID, metadata)));
      result(mesh.ask(new RemoveItem(tenant("c-changed"), ID, "msg_" + round)));
      result(mesh.ask(new RemoveItem(tenant("c-changed"), ID, "msg_" + round)));
      for (int i = 0; i < EVERYBODY; i++) {
        assertThat(conversation("c-changed").metadata()).isEqualTo(metadata);
        assertThat(conversation("c-changed").removed()).hasSize(round + 1).contains("msg_" + round);
      }
    }
  }

  @Test
  void it_is_all_there_after_a_restart_without_any_cache() {
    create("c-restart");
    append("c-restart", "i1");
    result(store("c-restart", "r1", null));
    result(mesh.ask(new RemoveItem(tenant("c-restart"), ID, "msg_1")));
    StoredConversation before = conversation("c-restart");
    try (SessionMesh later = new SessionMesh();
        SessionMesh third = new SessionMesh()) {
      Redis redis = Redis.createClient(mesh.vertx, services.config().redis().connection());
      result(redis.send(Request.cmd(Command.FLUSHALL)));
      later.addNode(services.config(), 1);
      assertThat(
              result(later.<ConversationFound>ask(new FindConversation(tenant("c-restart"), ID)))
                  .conversation())
          .isEqualTo(before);
      assertThat(later.turns("c-restart", "r1.items")).hasSize(2);
      assertThat(later.lookups("postgres", "hit")).isEqualTo(1);
      third.addNode(services.config(), 1);
      assertThat(third.turns("c-restart", "r1.items"))
          .isEqualTo(later.turns("c-restart", "r1.items"));
    }
  }

  @Test
  void a_conversation_never_becomes_too_long_to_be_read() {
    SessionConfig given = services.config();
    try (SessionMesh strict = new SessionMesh()) {
      strict.addNode(
          new SessionConfig(
              given.postgres(),
              given.redis(),
              given.cache(),
              new SessionConfig.Limits(3, 100_000),
              given.attemptPause()),
          1);
      create("c-long");
      for (int i = 0; i < 3; i++) {
        result(strict.ask(items("c-long", "i" + i)));
      }
      MeshException refused = refusal(strict.ask(items("c-long", "i3")));
      assertThat(refused.kind()).isEqualTo(FailureKind.TOO_LARGE);
      assertThat(refused.code()).isEqualTo("conversation_too_long");
      assertThat(refusal(strict.ask(stored("c-long", "r3", null))).kind())
          .isEqualTo(FailureKind.TOO_LARGE);
      assertThat(refusal(strict.find("c-long", "r3")).kind()).isEqualTo(FailureKind.NOT_FOUND);
      assertThat(strict.turns("c-long", "i2")).hasSize(3);
    }
  }

  @Test
  void without_postgresql_the_answer_is_clear_and_redis_is_not_needed() {
    create("c-away");
    append("c-away", "i1");
    services.stopRedis();
    append("c-away", "i2");
    assertThat(ids("c-away")).containsExactly("i1", "i2");
    services.startRedis();
    services.stopPostgres();
    try {
      MeshException refused = refusal(mesh.ask(new FindConversation(tenant("c-away"), ID)));
      assertThat(refused.kind()).isEqualTo(FailureKind.UNAVAILABLE);
      assertThat(refusal(ask("c-away", "i3")).code()).isEqualTo("session_store_unavailable");
    } finally {
      services.startPostgres();
    }
    Wait.until(
        mesh.vertx, Duration.ofSeconds(10), () -> ask("c-away", "i4").map(true).otherwise(false));
    assertThat(ids("c-away")).startsWith("i1", "i2").endsWith("i4");
  }

  private StoredConversation create(String tenant) {
    return result(
            mesh.<ConversationFound>ask(
                new CreateConversation(tenant(tenant), ID, 7, "{\"a\":\"b\"}")))
        .conversation();
  }

  private StoredConversation conversation(String tenant) {
    return result(mesh.<ConversationFound>ask(new FindConversation(tenant(tenant), ID)))
        .conversation();
  }

  private void append(String tenant, String turn) {
    assertThat(result(ask(tenant, turn)).conversation().id()).isEqualTo(ID);
  }

  private Future<ConversationFound> ask(String tenant, String turn) {
    return mesh.ask(items(tenant, turn));
  }

  private static AppendItems items(String tenant, String turn) {
    return new AppendItems(ID, turn(tenant, turn, null));
  }

  private Future<TurnStored> store(String tenant, String response, String parent) {
    return mesh.ask(stored(tenant, response, parent));
  }

  private static StoreTurn stored(String tenant, String response, String parent) {
    return new StoreTurn(
        turn(tenant, response, parent),
        new ConversationAppend(ID, new ResponseId(response + ".items")));
  }

  /** Of the conversation's turns, oldest first. */
  private List<String> ids(String tenant) {
    return turnIds(tenant, conversation(tenant).head().value());
  }

  private List<String> turnIds(String tenant, String newest) {
    return mesh.turns(tenant, newest).stream().map(turn -> turn.response().value()).toList();
  }

  private static void assertNotFound(Future<?> answer) {
    MeshException refused = refusal(answer);
    assertThat(refused.kind()).isEqualTo(FailureKind.NOT_FOUND);
    assertThat(refused.code()).isEqualTo("conversation_not_found");
  }

  private static TenantId tenant(String tenant) {
    return new TenantId(tenant);
  }
}
