"""OpenAI's client for Python: python openai_client.py ADDRESS KEY MODEL

Each session prints a line of JSON.
"""

import sys

from openai import OpenAI

from session import TASK, Session

TOOL = TASK["tool"]
ANSWER = {"name": "weather", "strict": True, "schema": TASK["answer"]}


class Chat:
    def __init__(self, client, model):
        self.client, self.model = client, model
        self.session = Session("chat")
        self.messages = []

    def turn(self, role, content, **more):
        """Asks with all that was said so far; the answer is said then, too."""
        self.messages.append({"role": role, "content": content, **more.pop("message", {})})
        with self.client.chat.completions.stream(
            model=self.model,
            messages=self.messages,
            max_completion_tokens=80,
            temperature=0,
            stream_options={"include_usage": True},
            **more,
        ) as stream:
            events = sum(1 for _ in stream)
            final = stream.get_final_completion()
        self.session.turn(events, final.usage.prompt_tokens, final.usage.completion_tokens)
        message = final.choices[0].message
        self.messages.append(message.model_dump(include={"role", "content", "tool_calls"}))
        return message

    def run(self):
        tools = [{"type": "function", "function": {**TOOL, "strict": True}}]
        named = {"type": "function", "function": {"name": TOOL["name"]}}
        self.session.told("greeting", self.turn("user", TASK["greeting"]).content)
        asked = self.turn("user", TASK["question"], tools=tools, tool_choice=named)
        call = asked.tool_calls[0]
        self.session.told("tool", call.function.name)
        self.session.told("arguments", call.function.arguments)
        answer = self.turn(
            "tool",
            TASK["result"],
            message={"tool_call_id": call.id},
            tools=tools,
            tool_choice="none",
            response_format={"type": "json_schema", "json_schema": ANSWER},
        )
        self.session.told("answer", answer.content)
        self.session.end()


class Responses:
    """The conversation goes on by the id of the last Response."""

    def __init__(self, session, model, store):
        self.session = Session(session)
        self.common = {
            "model": model,
            "max_output_tokens": 80,
            "temperature": 0,
            "store": store,
        }
        self.previous = None

    def stream(self, request):
        """Yields the events of one turn."""
        raise NotImplementedError

    def turn(self, said, **more):
        request = {**self.common, "input": said, **more}
        if self.previous:
            request["previous_response_id"] = self.previous
        deltas, events, final = "", 0, None
        for event in self.stream(request):
            events += 1
            assert event.type not in ("error", "response.failed"), event
            if event.type == "response.output_text.delta":
                deltas += event.delta
            elif event.type in ("response.completed", "response.incomplete"):
                final = event.response
                break
        assert final.output_text == deltas, (final.output_text, deltas)
        assert final.previous_response_id == self.previous, final
        self.previous = final.id
        self.session.turn(events, final.usage.input_tokens, final.usage.output_tokens)
        return final

    def run(self):
        tools = [{"type": "function", "strict": True, **TOOL}]
        self.session.told("greeting", self.turn(TASK["greeting"]).output_text)
        more = {"tool_choice": "required", "parallel_tool_calls": False}
        asked = self.turn(TASK["question"], tools=tools, **more)
        call = asked.output[0]
        self.session.told("tool", call.name)
        self.session.told("arguments", call.arguments)
        result = {
            "type": "function_call_output",
            "call_id": call.call_id,
            "output": TASK["result"],
        }
        text = {"format": {"type": "json_schema", **ANSWER}}
        answer = self.turn([result], tools=tools, tool_choice="none", text=text)
        self.session.told("answer", answer.output_text)
        self.session.end()


class HttpResponses(Responses):
    def __init__(self, client, model):
        super().__init__("responses", model, store=True)
        self.client = client

    def stream(self, request):
        with self.client.responses.stream(**request) as stream:
            yield from stream

    def run(self):
        super().run()
        stored = self.client.responses.retrieve(self.previous)
        assert stored.output_text == self.session.report["answer"], stored


class SocketResponses(Responses):
    def __init__(self, connection, model):
        super().__init__("websocket", model, store=False)
        self.connection = connection

    def stream(self, request):
        self.connection.response.create(**request)
        yield from self.connection


def completion(client, model):
    """The older interface has neither turns nor tools."""
    stream = client.completions.create(
        model=model, prompt="The capital of France is", max_tokens=8, temperature=0, stream=True
    )
    text = "".join(chunk.choices[0].text for chunk in stream if chunk.choices)
    assert text.startswith(" Paris"), text


def main():
    address, key, model = sys.argv[1:4]
    client = OpenAI(base_url=address + "/v1", api_key=key, max_retries=0, timeout=120)
    assert model in [entry.id for entry in client.models.list()]
    completion(client, model)
    Chat(client, model).run()
    HttpResponses(client, model).run()
    with client.responses.connect() as connection:
        SocketResponses(connection, model).run()


if __name__ == "__main__":
    main()
