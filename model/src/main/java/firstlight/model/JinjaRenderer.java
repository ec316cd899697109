package firstlight.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Runs the statements of a template once. */
final class JinjaRenderer {
  /** How a body ended. */
  private enum Flow {
    NEXT,
    BREAK,
    CONTINUE
  }

  private final JinjaBudget budget;
  private final JinjaEvaluator evaluator;
  private StringBuilder out = new StringBuilder();

  JinjaRenderer(JinjaBudget budget) {
    this.budget = budget;
    this.evaluator = new JinjaEvaluator(budget);
  }

  String render(List<JinjaNode> nodes, JinjaScope globals) {
    run(nodes, new JinjaScope(globals));
    return out.toString();
  }

  private Flow run(List<JinjaNode> nodes, JinjaScope scope) {
    budget.enter();
    Flow flow = Flow.NEXT;
    for (int i = 0; i < nodes.size() && flow == Flow.NEXT; i++) {
      budget.steps(1);
      flow = run(nodes.get(i), scope);
    }
    budget.leave();
    return flow;
  }

  private Flow run(JinjaNode node, JinjaScope scope) {
    switch (node) {
      case JinjaNode.Text text -> write(text.text());
      case JinjaNode.Print print ->
          write(JinjaPrinter.text(evaluator.value(print.value(), scope), budget));
      case JinjaNode.If choice -> {
        return choose(choice, scope);
      }
      case JinjaNode.For loop -> loop(loop, scope);
      case JinjaNode.Set set -> assign(set.names(), evaluator.value(set.value(), scope), scope);
      case JinjaNode.SetAttribute set -> setAttribute(set, scope);
      case JinjaNode.SetBlock set -> scope.set(set.name(), filtered(set.filtered(), scope));
      case JinjaNode.FilterBlock block -> write((String) filtered(block.filtered(), scope));
      case JinjaNode.Macro macro -> scope.set(macro.name(), function(macro, scope));
      case JinjaNode.CallBlock call -> write((String) callBlock(call, scope));
      case JinjaNode.With with -> {
        JinjaScope inner = new JinjaScope(scope);
        with.values()
            .forEach(set -> assign(set.names(), evaluator.value(set.value(), scope), inner));
        return run(with.body(), inner);
      }
      case JinjaNode.Break _ -> {
        return Flow.BREAK;
      }
      case JinjaNode.Continue _ -> {
        return Flow.CONTINUE;
      }
    }
    return Flow.NEXT;
  }

  private void write(String text) {
    budget.chars(text.length());
    out.append(text);
  }

  private Flow choose(JinjaNode.If choice, JinjaScope scope) {
    for (JinjaNode.Branch branch : choice.branches()) {
      if (evaluator.isTrue(branch.condition(), scope)) {
        return run(branch.body(), scope);
      }
    }
    return run(choice.otherwise(), scope);
  }

  private void loop(JinjaNode.For loop, JinjaScope scope) {
    List<@Nullable Object> items =
        JinjaValues.elements(evaluator.value(loop.items(), scope), budget);
    if (loop.condition() != null) {
      items = chosen(items, loop, scope);
    }
    if (items.isEmpty()) {
      run(loop.otherwise(), new JinjaScope(scope));
      return;
    }
    JinjaLoop state = new JinjaLoop(items, budget);
    for (Object item : items) {
      state.advance();
      JinjaScope inner = new JinjaScope(scope);
      inner.set("loop", state);
      assign(loop.names(), item, inner);
      if (run(loop.body(), inner) == Flow.BREAK) {
        break;
      }
    }
  }

  private List<@Nullable Object> chosen(
      List<@Nullable Object> items, JinjaNode.For loop, JinjaScope scope) {
    List<@Nullable Object> chosen = new ArrayList<>();
    for (Object item : items) {
      JinjaScope inner = new JinjaScope(scope);
      assign(loop.names(), item, inner);
      if (evaluator.isTrue(loop.condition(), inner)) {
        chosen.add(item);
      }
    }
    return chosen;
  }

  private void assign(List<String> names, @Nullable Object value, JinjaScope scope) {
    if (names.size() == 1) {
      scope.set(names.getFirst(), value);
      return;
    }
    List<@Nullable Object> parts = JinjaValues.elements(value, budget);
    if (parts.size() != names.size()) {
      throw JinjaValues.failure(
          "%d names cannot take %d values".formatted(names.size(), parts.size()));
    }
    for (int i = 0; i < names.size(); i++) {
      scope.set(names.get(i), parts.get(i));
    }
  }

  private void setAttribute(JinjaNode.SetAttribute set, JinjaScope scope) {
    if (!(scope.get(set.namespace()) instanceof JinjaNamespace namespace)) {
      throw JinjaValues.failure("\"" + set.namespace() + "\" is not a namespace");
    }
    namespace.values().put(set.name(), evaluator.value(set.value(), scope));
  }

  /** The text that the body writes, aside from the output. */
  private String captured(List<JinjaNode> body, JinjaScope scope) {
    StringBuilder before = out;
    out = new StringBuilder();
    run(body, scope);
    String text = out.toString();
    out = before;
    return text;
  }

  private Object filtered(JinjaNode.Filtered filtered, JinjaScope scope) {
    JinjaScope inner = new JinjaScope(scope);
    inner.set("body", captured(filtered.body(), new JinjaScope(scope)));
    return JinjaPrinter.text(evaluator.value(filtered.filters(), inner), budget);
  }

  private JinjaFunction function(JinjaNode.Macro macro, JinjaScope scope) {
    return arguments -> {
      budget.enter();
      String text = captured(macro.body(), parameters(macro, arguments, scope));
      budget.leave();
      return text;
    };
  }

  private JinjaScope parameters(JinjaNode.Macro macro, JinjaArguments arguments, JinjaScope scope) {
    JinjaScope inner = new JinjaScope(scope);
    List<String> names = macro.parameters();
    for (int i = 0; i < names.size(); i++) {
      JinjaExpression otherwise = macro.defaults().get(i);
      Object value =
          arguments.has(i, names.get(i)) || otherwise == null
              ? arguments.get(i, names.get(i), new JinjaUndefined(names.get(i)))
              : evaluator.value(otherwise, inner);
      inner.set(names.get(i), value);
    }
    if (arguments.positional().size() > names.size()) {
      throw JinjaValues.failure("the macro %s takes fewer arguments".formatted(macro.name()));
    }
    for (Map.Entry<String, @Nullable Object> argument : arguments.named().entrySet()) {
      if (argument.getKey().equals("caller")) {
        inner.set("caller", argument.getValue());
      } else if (!names.contains(argument.getKey())) {
        throw JinjaValues.failure(
            "the macro %s has no parameter %s".formatted(macro.name(), argument.getKey()));
      }
    }
    return inner;
  }

  private Object callBlock(JinjaNode.CallBlock block, JinjaScope scope) {
    Object target = evaluator.value(block.call().target(), scope);
    JinjaArguments arguments = evaluator.arguments(block.call().arguments(), scope);
    arguments.named().put("caller", function(block.caller(), scope));
    if (target instanceof JinjaFunction function) {
      return JinjaPrinter.text(function.call(arguments), budget);
    }
    throw JinjaValues.failure(JinjaValues.kind(target) + " cannot be called");
  }
}
