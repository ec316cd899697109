"""Drives Firstlight with the official OpenAI client: python clients.py BASE_URL KEY MODEL

Each step prints a line; the first failure ends with a traceback and exit code 1.
"""

import sys

from openai import OpenAI


def chat(client, model):
    stream = client.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": "Count from 1 to 5."}],
        max_tokens=30,
        temperature=0,
        stream=True,
        stream_options={"include_usage": True},
    )
    text, reasons, usage = "", [], None
    for chunk in stream:
        if chunk.choices:
            text += chunk.choices[0].delta.content or ""
            if chunk.choices[0].finish_reason:
                reasons.append(chunk.choices[0].finish_reason)
        if chunk.usage:
            usage = chunk.usage
    assert text.startswith("1. 1"), text
    assert len(reasons) == 1 and reasons[0] in ("stop", "length"), reasons
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens, usage
    print("chat completion streamed:", repr(text))


def completion(client, model):
    stream = client.completions.create(
        model=model, prompt="The capital of France is", max_tokens=8, temperature=0, stream=True
    )
    text = "".join(chunk.choices[0].text for chunk in stream if chunk.choices)
    assert text.startswith(" Paris"), text
    print("completion streamed:", repr(text))


def streamed_response(client, model, text, previous=None):
    with client.responses.stream(
        model=model, input=text, previous_response_id=previous, temperature=0, max_output_tokens=24
    ) as stream:
        deltas, final = "", None
        for event in stream:
            if event.type == "response.output_text.delta":
                deltas += event.delta
            elif event.type in ("response.completed", "response.incomplete"):
                final = event.response
    assert final.output_text == deltas, (final.output_text, deltas)
    return final


def responses(client, model):
    first = streamed_response(client, model, "My name is Ada. Say hello.")
    second = streamed_response(client, model, "What is my name?", first.id)
    assert second.previous_response_id == first.id
    assert second.usage.input_tokens > first.usage.input_tokens + first.usage.output_tokens
    again = client.responses.retrieve(first.id)
    assert again.output_text == first.output_text
    with client.responses.stream(model=model, input="hello", temperature=0) as stream:
        whole = stream.until_done().get_final_response()
    assert whole.status == "completed" and whole.output_text.startswith("Hello"), whole
    print("responses streamed:", repr(first.output_text), "->", repr(second.output_text))


def final_of(connection):
    text = ""
    for event in connection:
        if event.type == "response.output_text.delta":
            text += event.delta
        elif event.type in ("response.completed", "response.incomplete"):
            assert event.response.output_text == text, (event.response.output_text, text)
            return event.response
        elif event.type in ("error", "response.failed"):
            raise AssertionError(event)
    raise AssertionError("the socket closed")


def websocket(client, model):
    with client.responses.connect() as connection:
        connection.response.create(
            model=model, input="My name is Ada. Say hello.", max_output_tokens=24, temperature=0
        )
        first = final_of(connection)
        connection.response.create(
            model=model,
            input="What is my name?",
            previous_response_id=first.id,
            max_output_tokens=24,
            temperature=0,
        )
        second = final_of(connection)
    assert second.previous_response_id == first.id
    print("websocket responses:", repr(first.output_text), "->", repr(second.output_text))


def main():
    base, key, model = sys.argv[1:4]
    client = OpenAI(base_url=base + "/v1", api_key=key, max_retries=0, timeout=60)
    assert model in [entry.id for entry in client.models.list()]
    for step in (chat, completion, responses, websocket):
        step(client, model)
    print("4 passed, 0 failed")


if __name__ == "__main__":
    main()
