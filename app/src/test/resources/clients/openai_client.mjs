// OpenAI's client for Node: node openai_client.mjs ADDRESS KEY MODEL
// Each session prints a line of JSON. To run, it and task.json must lie beside node_modules.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";

const [address, key, model] = process.argv.slice(2);
const task = JSON.parse(readFileSync(new URL("task.json", import.meta.url), "utf8"));
const client = new OpenAI({ baseURL: address + "/v1", apiKey: key, maxRetries: 0, timeout: 120_000 });
const answerFormat = { name: "weather", strict: true, schema: task.answer };

class Session {
  constructor(name) {
    this.report = { session: name, events: [], usage: [] };
  }

  turn(events, input, output) {
    this.report.events.push(events);
    this.report.usage.push({ input, output });
  }

  end(told) {
    console.log(JSON.stringify({ ...this.report, ...told }));
  }
}

class Chat {
  session = new Session("chat");
  messages = [];

  async turn(message, more = {}) {
    this.messages.push(message);
    const stream = client.chat.completions.stream({
      model,
      messages: this.messages,
      max_completion_tokens: 80,
      temperature: 0,
      stream_options: { include_usage: true },
      ...more,
    });
    let events = 0;
    for await (const _ of stream) events++;
    const { usage, choices } = await stream.finalChatCompletion();
    this.session.turn(events, usage.prompt_tokens, usage.completion_tokens);
    const { role, content, tool_calls } = choices[0].message;
    const answer = { role, content, ...(tool_calls?.length && { tool_calls }) };
    this.messages.push(answer);
    return answer;
  }

  async run() {
    const tools = [{ type: "function", function: { ...task.tool, strict: true } }];
    const greeting = await this.turn({ role: "user", content: task.greeting });
    const asked = await this.turn(
      { role: "user", content: task.question },
      {
        tools,
        tool_choice: { type: "function", function: { name: task.tool.name } },
      },
    );
    const call = asked.tool_calls[0];
    const answer = await this.turn(
      { role: "tool", tool_call_id: call.id, content: task.result },
      {
        tools,
        tool_choice: "none",
        response_format: { type: "json_schema", json_schema: answerFormat },
      },
    );
    this.session.end({
      greeting: greeting.content,
      tool: call.function.name,
      arguments: call.function.arguments,
      answer: answer.content,
    });
  }
}

/** The conversation goes on by the id of the last Response; open(request) gives the events of a turn. */
class Responses {
  constructor(name, open, store) {
    this.session = new Session(name);
    this.open = open;
    this.common = { model, max_output_tokens: 80, temperature: 0, store };
  }

  async turn(input, more = {}) {
    const request = { ...this.common, input, ...more };
    if (this.previous) request.previous_response_id = this.previous;
    let [events, text, response] = [0, "", null];
    for await (const event of this.open(request)) {
      events++;
      if (event.type === "response.output_text.delta") text += event.delta;
      if (["response.completed", "response.incomplete"].includes(event.type)) {
        response = event.response;
        break;
      }
      assert.ok(!["error", "response.failed"].includes(event.type), JSON.stringify(event));
    }
    const message = response.output.find((item) => item.type === "message");
    assert.equal(message?.content[0].text ?? "", text);
    assert.equal(response.previous_response_id, this.previous ?? null);
    this.previous = response.id;
    this.session.turn(events, response.usage.input_tokens, response.usage.output_tokens);
    return { text, output: response.output };
  }

  async run() {
    const tools = [{ type: "function", strict: true, ...task.tool }];
    const greeting = await this.turn(task.greeting);
    const asked = await this.turn(task.question, {
      tools,
      tool_choice: "required",
      parallel_tool_calls: false,
    });
    const call = asked.output[0];
    const answer = await this.turn(
      [{ type: "function_call_output", call_id: call.call_id, output: task.result }],
      {
        tools,
        tool_choice: "none",
        text: { format: { type: "json_schema", ...answerFormat } },
      },
    );
    this.session.end({
      greeting: greeting.text,
      tool: call.name,
      arguments: call.arguments,
      answer: answer.text,
    });
  }
}

async function* overSocket(socket, request) {
  const events = socket.stream();
  socket.send({ type: "response.create", ...request });
  for await (const event of events) {
    assert.notEqual(event.type, "close");
    if (event.type === "error") throw event.error;
    if (event.type === "message") yield event.message;
  }
}

await new Chat().run();
await new Responses("responses", (request) => client.responses.stream(request), true).run();
const socket = new ResponsesWS(client);
await new Responses("websocket", (request) => overSocket(socket, request), false).run();
socket.close();
