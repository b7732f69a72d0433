import { members, readInteger } from '../../../src/service/http/json.ts';
import type { Reply } from '../../../src/service/http/reply.ts';
import { splitPrompts } from '../../../src/service/image/prompts.ts';
import { readSubmit } from '../../../src/service/image/submit.ts';
import { readTask } from '../../../src/service/image/task.ts';
import { isUsableTaskId } from '../../../src/service/image/task-id.ts';
import type { SubmitResult, Task } from '../../../src/service/image-service.ts';
import type { ServiceResult } from '../../../src/service/result.ts';
import { type Input, streamOf } from '../input.ts';
import { facts, ids, lawfulFailure, longestTask, repeatedKey, replyOf } from './answered.ts';
import { lawfulFindings, lawfulList } from './found.ts';
import { Broken, lawfulText, type Run } from './law.ts';

/** The checks of what the image workflow answers: submit responses, task records, lists of them, suggested prompts. */

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

/** The submit codes (gateway 3.2). */
const knownCodes: ReadonlySet<number> = new Set([1, 3, 4, 5, 9, 21, 22, 23, 24, 30]);

/** @throws Broken where a submission is taken for what its status or its code does not say, or what is kept of it is unlawful */
export function lawfulSubmit(reply: Reply): ServiceResult<SubmitResult> {
  const result = readSubmit(reply, { ...facts, safe: false });
  if (!result.ok) {
    lawfulFailure(result.error);
    const { class: kind, code: why } = result.error;
    const record = reply.body.kind === 'json' ? members(reply.body.value) : undefined;
    // What broke on its way may have come to something, whatever its code: only an envelope can say that it was refused.
    const isEnvelope = record !== undefined && 'error' in record;
    if (kind === 'permanent' && !isEnvelope && [500, 502, 504, 524].includes(reply.status))
      throw new Broken(`HTTP ${reply.status} is ${why}, which ends the job as if nothing had been made.`);
    return result;
  }
  const { status, body } = reply;
  const { kind, code } = result.value;
  const isAccepted = kind === 'accepted' || kind === 'modal';
  if (isAccepted && (status < 200 || status >= 300)) throw new Broken(`It is ${kind} by HTTP ${status}.`);
  const said = body.kind === 'json' ? readInteger(members(body.value)?.['code']) : undefined;
  if (said !== code) throw new Broken(`The code is ${code} and not ${said}.`);
  // A task may have been made: it is polled, or nothing more is sent.
  if (!knownCodes.has(code) && kind !== 'accepted' && kind !== 'refused')
    throw new Broken(`The code ${code}, which nobody has described, is taken for ${kind}.`);
  if ('taskId' in result.value && !isUsableTaskId(result.value.taskId))
    throw new Broken(`The id ${JSON.stringify(result.value.taskId)} fits into no address.`);
  if ('message' in result.value) lawfulText(result.value.message, 'A refusal');
  if (JSON.stringify(result).includes(repeatedKey)) throw new Broken('A secret is kept.');
  return result;
}

const codesOf = <T>(result: ServiceResult<T>, lawful: (value: T) => readonly string[]): readonly string[] =>
  result.ok ? lawful(result.value) : [lawfulFailure(result.error)];

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
    const reply = replyOf(Number(status), bytes);
    switch (route) {
      case 'task':
        return codesOf(readTask(ids[0], reply, facts), (task) => [lawfulTask(task)]);
      case 'list':
        return codesOf(lawfulList(ids, reply), (tasks) => {
          if (tasks.some(({ id }) => !(ids as readonly string[]).includes(id)))
            throw new Broken('A task is read that was not asked for.');
          return ['list', ...tasks.map(lawfulTask)];
        });
      case 'all': {
        const listed = lawfulList(undefined, reply);
        const codes = codesOf(listed, (tasks) => ['list', ...new Set(tasks.map(lawfulTask))]);
        return [...codes, ...(await lawfulFindings(listed))];
      }
      default:
        return codesOf(lawfulSubmit(reply), (result) => [result.kind]);
    }
  };
}
