import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasPostgres, type TestDatabase, testDatabase } from '../rig/postgres.ts';
import { images } from '../rig/strangers/images.ts';
import { reach } from '../rig/strangers/reach.ts';
import { play, type StrangerRun } from '../rig/strangers/stranger.ts';
import { tasks } from '../rig/strangers/tasks.ts';
import { textValues } from '../rig/strangers/text-values.ts';
import { textVariants } from '../rig/strangers/text-variants.ts';
import { texts } from '../rig/strangers/texts.ts';
import { variants } from '../rig/strangers/variants.ts';
import { verdicts } from '../rig/strangers/verdicts.ts';

const all = [
  ...images,
  ...reach,
  ...tasks,
  ...texts,
  ...textValues,
  ...textVariants,
  ...variants,
  ...verdicts,
];

/** Those whose verdict a worker keeps in PostgreSQL, those that a call to come depends on, and what is dearest where it goes wrong. */
const chosen = [
  'of eight tasks with one id the record tells whose it is, by their tags',
  'a chat stream that lacks a finish reason is asked again, whole',
  'a 500 "no_candidates" of chat is a blocked prompt that the next call may answer',
  'chat counts a total above its parts',
  'chat counts one side alone',
  'chat JSON with thinking before it is read, and its text stays as it was sent',
  'a native stream of JSON behind thinking is read',
  'an image host that ends its connections (HTTP/1.0, 131073 bytes) ends no run',
  'a gateway that reads the key of image paths in mj-api-secret alone works without a setting',
  'a base address with /v1 at the end fails none of twelve rows: one image is asked for',
  'a task that was made and not noted is in doubt: video',
  'no channel, told as code 5, has made nothing: describe, fast',
  'a connection that broke behind the gateway is tried again where the file says so: edits',
  'a gateway that refuses a button which it has just shown with 400 custom_id is pressed again',
  'a used-up quota, told as 402 without a body, stops the run and fails no row',
  'a gateway whose links name its own machine is asked for the images at its base address',
  'a film whose link names its own machine is asked for at the base address',
  'a gateway with four imageUrls and no grid has nothing cut',
  'a gateway that says CANCELED ends its rows as cancelled',
  'a chat stream of no choices whose counts say that none was made is a blocked prompt, asked once more',
  'a bare error of 429 inside a native stream is tried again',
  'a proxy that matches no message fails its rows after one resubmission, and the summary says that it paid again',
];

describe.runIf(hasPostgres)('strangers, on an engine', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  it.concurrent.each(chosen.map((name, at) => [name, at] as const))('%s', async (name, at) => {
    const stranger = all.find((one) => one.name === name);
    if (stranger === undefined) throw new Error(`No stranger is called "${name}".`);
    const engine = ['--engine', `${database.url}#stranger-${at}`, '--out', 'runs/stranger'];
    const onEngine = <T extends StrangerRun>(run: T): T => ({
      ...run,
      flags: [...(run.flags ?? []), ...engine],
    });
    const { later = [] } = stranger;
    for (const { found, verdict, err } of await play({ ...onEngine(stranger), later: later.map(onEngine) }))
      expect(found, err).toEqual(verdict);
  });
});
