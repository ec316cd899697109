"""What the Python clients have in common: the task, and the report of a session."""

import json
import pathlib

TASK = json.loads((pathlib.Path(__file__).parent / "task.json").read_text())


class Session:
    """Counts what a client saw in a session of several turns."""

    def __init__(self, name):
        self.report = {"session": name, "events": [], "usage": []}

    def turn(self, events, input_tokens, output_tokens):
        self.report["events"].append(events)
        self.report["usage"].append({"input": input_tokens, "output": output_tokens})

    def told(self, what, value):
        self.report[what] = value

    def end(self):
        print(json.dumps(self.report))
