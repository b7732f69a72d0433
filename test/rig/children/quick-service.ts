/**
 * A gateway that answers at once, or as late as it is asked to, in a process of its own: for measurements, where the service must
 * cost little and always the same. It believes everything that it is told. Its first line on standard output is its address.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buttonsAfter, type FakeButton } from '../fake-task.ts';
import { makePng } from '../png.ts';
import { type QuickCounts, type QuickOptions, type QuickTaskTimes, taskDuration } from '../quick-options.ts';

interface QuickTask {
  readonly id: string;
  readonly name: string;
  readonly buttons: readonly FakeButton[];
  readonly beganAt: number;
  readonly endsAt: number;
  /** When a poll saw its end; 0: none has. */
  seenAt: number;
}

const options = JSON.parse(process.argv[2] ?? '{}') as QuickOptions;
const { latencyMs = 0, textMs = latencyMs, fileMs = 0, imageBytes = 10_000, textLength = 200 } = options;
const text = 'A fox at the edge of a winter forest. '.repeat(Math.ceil(textLength / 38)).slice(0, textLength);
// Between a PNG and its end anything may stand.
const png = makePng(1, 64, 64);
const image = Buffer.concat([png, randomBytes(Math.max(0, imageBytes - png.length - 12)), png.subarray(-12)]);
const tasks = new Map<string, QuickTask>();
const textsAt: [number, number][] = [];
const counts = {
  submits: 0,
  polls: 0,
  lists: 0,
  files: 0,
  texts: 0,
  peakTasks: 0,
  peakTexts: 0,
  lateMs: 0,
  ended: 0,
};
let openTasks = 0;
let openTexts = 0;
let firstSubmitAt = 0;
let lastAnswerAt = 0;
let origin = '';

const now = (): number => performance.timeOrigin + performance.now();

const answer = (response: ServerResponse, body: unknown, afterMs = latencyMs): void => {
  const send = (): void => {
    lastAnswerAt = now();
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(typeof body === 'function' ? body() : JSON.stringify(body));
  };
  if (afterMs > 0) setTimeout(send, afterMs);
  else send();
};

function submit(
  name: string,
  pressed: FakeButton | undefined,
): { code: 1; result: string; description: string } {
  const number = tasks.size + 1;
  const id = String(1_700_000_000_000_000 + number);
  const beganAt = now();
  if (firstSubmitAt === 0) firstSubmitAt = beganAt;
  const ms = taskDuration(name, options);
  tasks.set(id, {
    id,
    name,
    buttons: buttonsAfter(pressed, number, 'IMG'),
    beganAt,
    endsAt: beganAt + ms,
    seenAt: 0,
  });
  counts.submits += 1;
  openTasks += 1;
  counts.peakTasks = Math.max(counts.peakTasks, openTasks);
  setTimeout(() => {
    openTasks -= 1;
  }, ms);
  return { code: 1, result: id, description: 'Submit success' };
}

function record(id: string): Record<string, unknown> {
  const task = tasks.get(id);
  if (task === undefined) return { code: 4, description: 'task_no_found' };
  const at = now();
  const done = at >= task.endsAt;
  if (done && task.seenAt === 0) {
    task.seenAt = at;
    counts.ended += 1;
    counts.lateMs += at - task.endsAt;
  }
  const share = options.progress === true ? (at - task.beganAt) / (task.endsAt - task.beganAt) : 0;
  return {
    id,
    action: task.name.includes('/') ? 'ACTION' : 'IMAGINE',
    status: done ? 'SUCCESS' : 'IN_PROGRESS',
    progress: done ? '100%' : `${Math.floor((share * 100) / 15) * 15}%`,
    prompt: task.name,
    imageUrl: done ? `${origin}/files/${id}.png` : '',
    failReason: '',
    buttons: done ? task.buttons : [],
  };
}

/** Native text generation and chat (gateway 6, 7). */
const generated = (isChat: boolean): unknown =>
  isChat
    ? {
        id: 'chat-1',
        object: 'chat.completion',
        created: 1_700_000_000,
        model: 'chat-mini',
        choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 20, completion_tokens: 50, total_tokens: 70 },
      }
    : {
        candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 50, totalTokenCount: 70 },
        modelVersion: 'text-flash',
      };

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk as string;
  return body === '' ? {} : (JSON.parse(body) as Record<string, unknown>);
}

function answerPost(path: string, body: Record<string, unknown>, response: ServerResponse): void {
  if (path.endsWith('/submit/imagine')) return answer(response, submit(String(body['prompt']), undefined));
  if (path.endsWith('/submit/action')) {
    const parent = tasks.get(String(body['taskId']));
    const pressed = parent?.buttons.find(({ customId }) => customId === body['customId']);
    if (parent === undefined || pressed === undefined)
      return answer(response, { code: 4, description: 'no button' });
    return answer(response, submit(`${parent.name}/${pressed.label || pressed.emoji}`, pressed));
  }
  if (path.endsWith('/task/list-by-condition')) {
    counts.lists += 1;
    const ids = body['ids'] as readonly unknown[];
    return answer(response, () => JSON.stringify(ids.map((id) => record(String(id)))));
  }
  openTexts += 1;
  counts.peakTexts = Math.max(counts.peakTexts, openTexts);
  const reply = (): string => {
    counts.texts += 1;
    openTexts -= 1;
    return JSON.stringify(generated(path.endsWith('/chat/completions')));
  };
  return answer(response, reply, textMs);
}

const server = createServer((request, response) => {
  const path = request.url ?? '';
  if (path === '/-/counts') {
    const all: QuickCounts = { ...counts, firstSubmitAt, lastAnswerAt, textsAt };
    response.end(JSON.stringify(all));
    return;
  }
  if (path === '/-/tasks') {
    const times: QuickTaskTimes[] = [...tasks.values()].map(({ beganAt, seenAt }) => [beganAt, seenAt]);
    response.end(JSON.stringify(times));
    return;
  }
  if (request.method === 'POST') {
    bodyOf(request).then(
      (body) => answerPost(path, body, response),
      () => response.writeHead(400).end(),
    );
    return;
  }
  if (path.startsWith('/files/')) {
    counts.files += 1;
    setTimeout(() => {
      lastAnswerAt = now();
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': image.length }).end(image);
    }, fileMs);
    return;
  }
  const id = /\/task\/(\d+)\/fetch$/.exec(path)?.[1];
  if (id === undefined) {
    answer(response, { object: 'list', data: [] });
    return;
  }
  counts.polls += 1;
  answer(response, () => JSON.stringify(record(id)));
});

setInterval(() => {
  if (textsAt.length < 100_000 && textsAt.at(-1)?.[1] !== counts.texts) textsAt.push([now(), counts.texts]);
}, 50).unref();
// A client that is busy for long must not find its connections closed.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => {
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(origin);
});
// Whoever started this has ended.
process.stdin.on('end', () => process.exit()).resume();
