import { ids, repeatedKey } from '../check/answered.ts';
import { type Draft, type Piece, piece } from '../input.ts';
import type { Random } from '../random.ts';
import { type Json, mutateJson } from './json.ts';
import { mutate } from './oddity.ts';
import { record, refusals, submitted } from './task.ts';

const opened: Json = { code: 21, result: ids[0], properties: { remix: true } };
const chosen: Json = { code: 1, result: ids[0], description: 'Submit success' };

const submission = (random: Random): Json =>
  random.pick<() => Json>([
    () => opened,
    () => opened,
    () => chosen,
    () => chosen,
    () => ({ ...(chosen as object), result: ids[1] }),
    () => ({ code: 21, result: ids[0], properties: { status: 'SUCCESS' } }),
    () => ({ code: 22, result: ids[0], properties: { numberOfQueues: 3 } }),
    () => ({ code: 23, description: '队列已满，请稍后尝试', result: null }),
    () => ({ code: 3, description: '关联任务不存在或已失效' }),
    () => ({ code: 4, description: '关联任务状态错误' }),
    () => ({ code: 4, description: 'task_status_not_success ', type: 'upstream_error' }),
    () => ({ code: 24, description: `no ${repeatedKey}`, properties: { bannedWord: 'x' } }),
    () => random.pick(refusals),
    () => submitted(random),
    () => submitted(random),
  ])();

const polled = (random: Random): Json =>
  random.pick<() => Json>([
    () => ({ id: ids[0], status: 'MODAL' }),
    () => ({ id: ids[0], status: 'MODAL', progress: '100%', imageUrl: 'https://a.example/1.png' }),
    () => ({ id: ids[0], status: '', progress: '0%', buttons: null }),
    () => ({ id: ids[0], status: 'IN_PROGRESS', progress: '15%' }),
    () => ({ id: ids[0], status: 'SUCCESS', imageUrl: 'https://a.example/1.png', buttons: [] }),
    () => ({ id: ids[0], status: 'FAILURE', failReason: '[Internal error] Something went wrong' }),
    () => ({ id: ids[0], status: 'CANCEL' }),
    () => null,
    () => record(random),
    () => record(random),
  ])();

const parent = (random: Random): Json => ({
  ...record(random),
  status: random.pick(['SUCCESS', 'SUCCESS', 'SUCCESS', 'IN_PROGRESS', 'FAILURE']),
  buttons: [
    { customId: random.pick(['IMG::JOB::high_variation::1::x', 'IMG::other::2']), label: 'Vary (Strong)' },
    ...random.some(0, 2, () => ({ customId: 'a', label: random.pick(['U1', 'Vary (Strong)']) })),
  ],
});

const status = (random: Random): number =>
  random.happens(0.75)
    ? 200
    : random.pick([204, 301, 400, 400, 403, 404, 404, 429, 429, 500, 500, 502, 503, 524]);

/** One line for each answer: what the click asks for is answered by the first line of its route that is left. */
export function hostileClick(random: Random): Draft {
  const form = random.pick(['hold', 'hold', 'retry', 'retry-all']);
  const lines = (
    route: string,
    least: number,
    most: number,
    draw: (random: Random) => Json,
  ): readonly Piece[] =>
    random.some(least, most, () => {
      if (random.happens(0.08)) return piece(`${route} lost\n`);
      const text = JSON.stringify(mutateJson(draw(random), random, random.pick([0, 0, 0.03])));
      const body = random.happens(0.07) ? mutate(text, random) : text;
      // A line may come again and again, as a gateway that says the same all day.
      return piece(`${route} ${status(random)} ${body}\n`, random.happens(0.15) ? random.size(200) : 1);
    });
  return {
    form,
    pieces: [
      ...lines('parent', 0, random.happens(0.3) ? 3 : 0, parent),
      ...lines('submit', 1, 6, submission),
      ...lines('modal', 0, 5, submission),
      ...lines('task', 0, 9, polled),
    ],
  };
}
