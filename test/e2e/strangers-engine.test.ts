import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasPostgres, type TestDatabase, testDatabase } from '../rig/postgres.ts';
import { play } from '../rig/strangers/stranger.ts';
import { textValues } from '../rig/strangers/text-values.ts';
import { texts } from '../rig/strangers/texts.ts';

/** Those whose verdict a worker keeps in PostgreSQL, and those that a call to come depends on. */
const chosen = [
  'a chat stream that lacks a finish reason is asked again, whole',
  'a 500 "no_candidates" of chat is a blocked prompt that the next call may answer',
  'chat counts a total above its parts',
  'chat counts one side alone',
  'chat JSON with thinking before it is read, and its text stays as it was sent',
  'a native stream of JSON behind thinking is read',
];

describe.runIf(hasPostgres)('strangers of texts, on an engine', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  it.each(chosen.map((name, at) => [name, at] as const))('%s', async (name, at) => {
    const stranger = [...texts, ...textValues].find((one) => one.name === name);
    if (stranger === undefined) throw new Error(`No stranger is called "${name}".`);
    const flags = ['--engine', `${database.url}#texts-${at}`, '--out', 'runs/stranger'];
    for (const { found, verdict, err } of await play({ ...stranger, flags }))
      expect(found, err).toEqual(verdict);
  });
});
