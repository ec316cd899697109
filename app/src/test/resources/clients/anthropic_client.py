"""Anthropic's client for Python: python anthropic_client.py ADDRESS KEY MODEL

The session prints a line of JSON.
"""

import json
import sys

from anthropic import Anthropic

from session import TASK, Session

TOOL = TASK["tool"]


class Messages:
    def __init__(self, client, model):
        self.client, self.model = client, model
        self.session = Session("messages")
        self.messages = []

    def turn(self, content, **more):
        """Asks with all that was said so far; the answer is said then, too."""
        self.messages.append({"role": "user", "content": content})
        request = {
            "model": self.model,
            "system": "You are a helpful assistant.",
            "messages": self.messages,
            **more,
        }
        counted = self.client.messages.count_tokens(**request).input_tokens
        with self.client.messages.stream(max_tokens=80, extra_body={"temperature": 0}, **request) as stream:
            events = sum(1 for _ in stream)
            final = stream.get_final_message()
        usage = final.usage
        read = usage.input_tokens + (usage.cache_read_input_tokens or 0)
        assert counted == read, (counted, usage)
        self.session.turn(events, read, usage.output_tokens)
        self.messages.append({"role": "assistant", "content": final.content})
        return final

    def run(self):
        tool = {
            "name": TOOL["name"],
            "description": TOOL["description"],
            "input_schema": TOOL["parameters"],
        }
        self.session.told("greeting", self.turn(TASK["greeting"]).content[0].text)
        named = {"type": "tool", "name": tool["name"]}
        asked = self.turn(TASK["question"], tools=[tool], tool_choice=named)
        assert asked.stop_reason == "tool_use", asked
        call = asked.content[0]
        self.session.told("tool", call.name)
        self.session.told("arguments", json.dumps(call.input))
        result = {"type": "tool_result", "tool_use_id": call.id, "content": TASK["result"]}
        answer = self.turn(
            [result],
            tools=[tool],
            tool_choice={"type": "none"},
            output_config={"format": {"type": "json_schema", "schema": TASK["answer"]}},
        )
        self.session.told("answer", answer.content[0].text)
        self.session.end()


def main():
    address, key, model = sys.argv[1:4]
    Messages(Anthropic(base_url=address, api_key=key, max_retries=0, timeout=120), model).run()


if __name__ == "__main__":
    main()
