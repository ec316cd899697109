package firstlight.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A statement of a template, parsed. */
sealed interface JinjaNode {
  record Text(String text) implements JinjaNode {}

  record Print(JinjaExpression value) implements JinjaNode {}

  record If(List<Branch> branches, List<JinjaNode> otherwise) implements JinjaNode {}

  record Branch(JinjaExpression condition, List<JinjaNode> body) {}

  record For(
      List<String> names,
      JinjaExpression items,
      @Nullable JinjaExpression condition,
      List<JinjaNode> body,
      List<JinjaNode> otherwise)
      implements JinjaNode {}

  record Set(List<String> names, JinjaExpression value) implements JinjaNode {}

  record SetAttribute(String namespace, String name, JinjaExpression value) implements JinjaNode {}

  /** The filters may be none. */
  record SetBlock(String name, Filtered filtered) implements JinjaNode {}

  record FilterBlock(Filtered filtered) implements JinjaNode {}

  /** A body whose text goes through filters; {@code filters} is applied to the name "body". */
  record Filtered(List<JinjaNode> body, JinjaExpression filters) {}

  record Macro(
      String name,
      List<String> parameters,
      List<@Nullable JinjaExpression> defaults,
      List<JinjaNode> body)
      implements JinjaNode {}

  record CallBlock(JinjaExpression.Call call, Macro caller) implements JinjaNode {}

  record With(List<Set> values, List<JinjaNode> body) implements JinjaNode {}

  record Break() implements JinjaNode {}

  record Continue() implements JinjaNode {}
}
