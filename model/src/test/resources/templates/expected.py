"""Writes expected.json: what Python's Jinja2, set up as Hugging Face's transformers do it, makes of
the templates here and of small expressions. Needs the packages of Jinja2 3.1; run in this folder."""

import datetime
import json
import pathlib

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = pathlib.Path(__file__).parent
MAIN = HERE / "../../../main/resources/firstlight/model/templates"
NOW = datetime.datetime(2026, 2, 3, 4, 5, 6)


class Refused(Exception):
    pass


def raise_exception(message):
    raise Refused(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(
        x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def environment():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: NOW.strftime(form)
    return env


def outcome(source, context):
    try:
        return {"output": environment().from_string(source).render(**context)}
    except Refused as e:
        return {"refusal": str(e)}
    except jinja2.exceptions.TemplateError:
        return {"error": True}
    except Exception:
        return {"error": True}


def user(text):
    return {"role": "user", "content": text}


def assistant(text, **more):
    return {"role": "assistant", "content": text, **more}


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Weather in a \"city\" <now> & then, caf\u00e9 \U0001f600",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    },
    {"type": "function", "function": {"name": "noop", "parameters": {}, "x": None, "y": [1, 2.5, []]}},
]
CALL = {
    "id": "call12345",
    "type": "function",
    "function": {"name": "get_weather", "arguments": {"city": "K\u00f6ln", "days": 2}},
}
CONVERSATIONS = {
    "one": [user("hello")],
    "blanks": [user("  hello \n")],
    "system": [{"role": "system", "content": "Be terse."}, user("hi")],
    "long": [user("a"), assistant("b"), user("c")],
    "ends_with_assistant": [user("a"), assistant("<think>\nhm\n</think>\n\nb")],
    "two_users": [user("a"), user("b")],
    "assistant_first": [assistant("x")],
    "thought": [user("a"), assistant("<think>\nhm\n</think>\n\nb"), user("c")],
    "empty_answer": [user("A"), assistant(""), user("B")],
    "calls": [
        user("w?"),
        assistant("", tool_calls=[CALL]),
        {"role": "tool", "content": "sunny", "tool_call_id": "call12345"},
        assistant("It is sunny."),
        user("thanks"),
    ],
    "two_calls": [
        user("w?"),
        assistant("I look.", tool_calls=[CALL, CALL]),
        {"role": "tool", "content": "1", "tool_call_id": "call12345"},
        {"role": "tool", "content": "2", "tool_call_id": "call12345"},
    ],
    "braces": [user("{{ 7*7 }}{% for %}{# x #}")],
    "only_system": [{"role": "system", "content": "s"}],
}


def template_cases():
    for name in ["smollm2", "chatml", "gemma3", "llama31", "qwen25", "mistral", "thinking"]:
        path = (MAIN if name == "gemma3" else HERE) / (name + ".jinja")
        for conversation, messages in CONVERSATIONS.items():
            for tools in [False, True]:
                for prompt in [True, False]:
                    context = {
                        "messages": messages,
                        "tools": TOOLS if tools else None,
                        "add_generation_prompt": prompt,
                        "bos_token": "<BOS>",
                        "eos_token": "<EOS>",
                    }
                    yield {
                        "template": name,
                        "conversation": conversation,
                        "tools": tools,
                        "prompt": prompt,
                        **outcome(path.read_text(), context),
                    }


CONTEXT = {
    "n": 7,
    "f": 2.5,
    "s": "Hello, W\u00f6rld",
    "t": " \n ab\t ",
    "yes": True,
    "no": False,
    "nothing": None,
    "items": [3, 1, 2],
    "words": ["b", "A", "c"],
    "d": {"k": "v", "n": 1, "items": "own"},
    "people": [
        {"name": "x", "age": 3, "tags": ["p"]},
        {"name": "y", "age": 2},
        {"name": "z", "age": 3, "admin": True},
    ],
}


def expression_cases():
    for line in (HERE / "expressions.txt").read_text().split("\n"):
        if line and not line.startswith("##"):
            yield {"source": line, **outcome(line.replace("\u2424", "\n"), CONTEXT)}


everything = {
    "conversations": CONVERSATIONS,
    "tools": TOOLS,
    "templates": list(template_cases()),
    "context": CONTEXT,
    "expressions": list(expression_cases()),
}
(HERE / "expected.json").write_text(json.dumps(everything, indent=1) + "\n")
