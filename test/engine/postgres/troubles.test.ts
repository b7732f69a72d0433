import { expect, it } from 'vitest';
import { engineErrorOf } from '../../../src/engine/postgres/engine-error.ts';
import { type EngineTrouble, EngineTroubles, troubleLine } from '../../../src/engine/postgres/troubles.ts';
import type { Clock } from '../../../src/run/clock.ts';

const shown = 'postgres://pp@db/runs';
const failure = (code: string): unknown =>
  engineErrorOf(Object.assign(new Error('as the server says it'), { severity: 'ERROR', code }), shown);

class Watched {
  now = 0;
  readonly said: EngineTrouble[] = [];
  readonly troubles = new EngineTroubles({ now: () => this.now } as Clock);

  constructor() {
    this.troubles.onTrouble((trouble) => this.said.push(trouble));
  }

  /** Asks at this moment. */
  async ask(at: number, code?: string, text = 'a question', tookMs = 0): Promise<void> {
    this.now = at;
    const question = async (): Promise<void> => {
      this.now += tookMs;
      if (code !== undefined) throw failure(code);
    };
    await this.troubles.watch(text, question).catch(() => undefined);
  }

  get lines(): readonly string[] {
    return this.said.map((trouble) => troubleLine(trouble, shown));
  }
}

it('reports once that an engine is unavailable, after a few seconds, and once that it is back', async () => {
  const engine = new Watched();
  await engine.ask(0, '57P03');
  await engine.ask(2900, '57P03');
  expect(engine.said).toEqual([]);
  await engine.ask(3000, '57P03');
  await engine.ask(9000, '57P01');
  await engine.ask(34_000);
  await engine.ask(35_000);
  expect(engine.lines).toEqual([
    'The engine postgres://pp@db/runs does not answer (as the server says it). Nothing is lost: this process waits for it, and sends nothing new meanwhile. Check that PostgreSQL runs there and can be reached from here.',
    'The engine postgres://pp@db/runs is back after 34 s: the work continues.',
  ]);
  expect(engine.troubles.lost).toBeUndefined();
});

it('does not report a short failure, and soon reports a query without an answer', async () => {
  const engine = new Watched();
  await engine.ask(0, '57P01');
  await engine.ask(2000);
  await engine.ask(4000, '57P01');
  expect(engine.said).toEqual([]);
  await engine.ask(6000);
  await engine.ask(7000, '57014', 'a question', 8000);
  expect(engine.said).toMatchObject([{ kind: 'waits', error: { code: 'engine.busy' } }]);
});

it('does not report a read-only engine as back before it accepts writes', async () => {
  const engine = new Watched();
  for (let at = 0; at <= 4000; at += 500) {
    await engine.ask(at, '25006', 'a commit');
    await engine.ask(at + 100, undefined, 'a look');
  }
  expect(engine.said).toMatchObject([{ kind: 'waits', error: { code: 'engine.readonly' } }]);
  await engine.ask(5000, undefined, 'a commit');
  expect(engine.said).toMatchObject([{ kind: 'waits' }, { kind: 'back', afterMs: 5000 }]);
});

it('ends all work on a permanent failure, and reports it at once, and once', async () => {
  const engine = new Watched();
  await engine.ask(0, '28P01');
  await engine.ask(1, '42501');
  await engine.ask(2);
  expect(engine.said).toMatchObject([{ kind: 'lost', error: { code: 'engine.lost' } }]);
  expect(engine.lines).toEqual([
    'The engine postgres://pp@db/runs refuses this user or password (as the server says it).',
  ]);
  expect(engine.troubles.lost).toMatchObject({ code: 'engine.lost' });
});
