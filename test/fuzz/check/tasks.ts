import type { Answer, ServiceFailure, Task } from '../../../src/service/answer.ts';
import { makeClean } from '../../../src/service/display.ts';
import { splitPrompts } from '../../../src/service/prompts.ts';
import { type Reply, readReplyBody } from '../../../src/service/reply.ts';
import type { RequestFacts } from '../../../src/service/request-facts.ts';
import { dataMaskOf, maskOf } from '../../../src/service/secrets.ts';
import { readSubmit } from '../../../src/service/submit.ts';
import { readTask } from '../../../src/service/task.ts';
import { isUsableTaskId } from '../../../src/service/task-id.ts';
import { readTaskList } from '../../../src/service/task-list.ts';
import { type Input, streamOf } from '../input.ts';
import { Broken, lawfulText, type Run } from './law.ts';

/** The checks of what the image workflow answers: submit responses, task records, lists of them, suggested prompts. */

/** Stands in some inputs, as a service repeats what it was sent. */
export const repeatedKey = 'sk-0123456789abcdef0123';
export const ids = ['1700000000000001', '14001929738841620', 'x'] as const;

const mask = maskOf([repeatedKey]);
const facts: RequestFacts = {
  safe: true,
  label: 'GET /img/task/1/fetch',
  baseUrl: 'https://gateway.test',
  mask,
  dataMask: dataMaskOf([repeatedKey]),
  clean: makeClean(mask),
  now: () => 1_790_000_000_000,
};

const classes = ['stop', 'permanent', 'retry', 'throttle', 'unsent', 'lost'];
const longestMessage = 10_000;
/** What is kept of a task lies in the state, and is written again at each change. */
const longestTask = 1_000_000;

function lawfulFailure({ code, class: kind, message, retryAfterMs = 0 }: ServiceFailure): string {
  if (!/^(service|connection|response|request)\.[a-z-]+$/.test(code)) throw new Broken(`The code ${code}.`);
  if (!classes.includes(kind)) throw new Broken(`The class ${kind}.`);
  if (message === '' || message.length > longestMessage)
    throw new Broken(`${code} is said in ${message.length} characters.`);
  if (!Number.isFinite(retryAfterMs) || retryAfterMs < 0)
    throw new Broken(`It waits for ${retryAfterMs} ms.`);
  lawfulText(message, code);
  return code;
}

/** They are texts as the service wrote them, each on one line. */
function lawfulPrompts(prompts: readonly string[]): void {
  const found = prompts.find((prompt) => prompt === '' || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(prompt));
  if (found !== undefined) throw new Broken(`A suggested prompt is ${JSON.stringify(found.slice(0, 300))}.`);
}

/** Everything that is kept is text of a bounded length, and holds no secret. */
function lawfulTask(task: Task): string {
  const { state, status, progress = 0, failReason = '', tag = '', prompts = [], buttons } = task;
  const kept = JSON.stringify(task);
  if (kept.length > longestTask) throw new Broken(`${kept.length} characters are kept of a task.`);
  if (kept.includes(repeatedKey)) throw new Broken('A secret is kept.');
  if (!(progress >= 0 && progress <= 100)) throw new Broken(`The progress is ${progress}.`);
  for (const text of [status, failReason, tag]) lawfulText(text, 'A word of a task');
  lawfulPrompts(prompts);
  for (const { customId } of buttons) if (customId === '') throw new Broken('A button cannot be pressed.');
  if (state !== 'success' && (buttons.length > 0 || prompts.length > 0 || (task.videoUrls ?? []).length > 0))
    throw new Broken(`A task that is ${state} has results.`);
  return state;
}

const codesOf = <T>(answer: Answer<T>, lawful: (value: T) => readonly string[]): readonly string[] =>
  answer.ok ? lawful(answer.value) : [lawfulFailure(answer.error)];

/** Bytes that a route of the image workflow answers with; the form is the route, and the status after it. */
export function taskRun(input: Input): Run {
  const [route, status = '200'] = input.form.split(' ');
  return async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of streamOf(input)) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    if (route === 'prompts') {
      const prompts = splitPrompts(bytes.toString('utf8'));
      lawfulPrompts(prompts);
      if (JSON.stringify(prompts).length > longestTask) throw new Broken('The prompts are too long.');
      return [prompts.length === 0 ? 'no prompts' : 'prompts'];
    }
    const body = readReplyBody(bytes, 'application/json');
    const reply: Reply = { status: Number(status), header: () => null, body };
    switch (route) {
      case 'task':
        return codesOf(readTask(ids[0], reply, facts), (task) => [lawfulTask(task)]);
      case 'list':
        return codesOf(readTaskList(ids, reply, facts), (tasks) => {
          if (tasks.some(({ id }) => !(ids as readonly string[]).includes(id)))
            throw new Broken('A task is read that was not asked for.');
          return ['list', ...tasks.map(lawfulTask)];
        });
      default:
        return codesOf(readSubmit(reply, facts), (answer) => {
          if ('taskId' in answer && !isUsableTaskId(answer.taskId))
            throw new Broken(`The id ${JSON.stringify(answer.taskId)} fits into no address.`);
          if ('message' in answer) lawfulText(answer.message, 'A refusal');
          if (JSON.stringify(answer).includes(repeatedKey)) throw new Broken('A secret is kept.');
          return [answer.kind];
        });
    }
  };
}
