import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { JobRecord } from '../../src/plan/job.ts';
import type { ReplyPlace } from '../../src/plan/job-request.ts';
import { segmentPath } from '../../src/state/files/segment-files.ts';
import { placesOf, ReplyLines } from '../../src/upkeep/check-replies.ts';

const at = (offset: number): ReplyPlace => ({ segment: 0, offset, length: 1, sha256: 'ab' });

it('placesOf finds the replies of a job, of its rounds, and of a result that is being redone', () => {
  const record = {
    rounds: [at(0), at(10)],
    text: { candidates: [], reply: at(20) },
    former: { text: { candidates: [], reply: at(30) }, rounds: [at(25)] },
  } as unknown as JobRecord;
  expect([...placesOf(record)].map(({ offset }) => offset)).toEqual([0, 10, 20, 25, 30]);
  expect([...placesOf({} as unknown as JobRecord)]).toEqual([]);
});

it('ReplyLines accepts a reply only as a complete line, and finds complete lines at other positions', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'promptpress-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, segmentPath(0));
  await mkdir(dirname(file), { recursive: true });
  const sha256 = createHash('sha256').update('two').digest('hex');
  for (const [text, isWhole, isElsewhere] of [
    ['one\ntwo\nthree\n', true, true],
    ['one\ntwo\n', true, true],
    ['one\ntwo', false, false],
    ['one\ntwo three\n', false, false],
    ['one\ntwo three\ntwo\n', false, true],
    ['two\none\n', false, true],
    ['', false, false],
  ] as const) {
    await writeFile(file, text);
    const lines = new ReplyLines(directory);
    const place = { segment: 0, offset: 4, length: 3, sha256 };
    expect([text, await lines.isWhole(place), await lines.isElsewhere(place)]).toEqual([
      text,
      isWhole,
      isElsewhere,
    ]);
    await lines.close();
  }
});
