import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReplyPlace } from '../../src/plan/job-request.ts';
import { segmentPath } from '../../src/state/files/segment-files.ts';
import { openStateForReading } from '../../src/state/state.ts';

/** The whole replies of a run directory. */
export interface FoundReplies {
  /** Job → its replies, in the order of its calls. */
  readonly byJob: ReadonlyMap<string, readonly unknown[]>;
  /** Places that a job names, where its line does not lie. */
  readonly lost: readonly ReplyPlace[];
  /** Lines that no job names. Replies that could not be used, and those of a redone job, are among them. */
  readonly unclaimed: readonly string[];
}

export async function repliesOf(directory: string): Promise<FoundReplies> {
  const folder = join(directory, 'replies');
  const left = new Set(
    (existsSync(folder) ? readdirSync(folder) : []).flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .flatMap((line, at) => (line === '' ? [] : [`${name} ${at} ${line}`])),
    ),
  );
  const lines = new Map([...left].map((line) => [line.slice(line.indexOf('{')), line]));
  const byJob = new Map<string, unknown[]>();
  const lost: ReplyPlace[] = [];
  const state = openStateForReading(directory);
  if (state === undefined) throw new Error(`${directory} has no state.`);
  try {
    for (const status of ['done', 'failed', 'pending', 'submitting'] as const)
      for await (const { key, text, rounds = [] } of state.withStatus(status))
        for (const place of [...rounds, ...(text?.reply === undefined ? [] : [text.reply])]) {
          const { segment, offset, length, sha256 } = place;
          const bytes = readFileSync(join(directory, segmentPath(segment))).subarray(offset, offset + length);
          const line = bytes.toString();
          const isRight = createHash('sha256').update(bytes).digest('hex') === sha256;
          if (!isRight || !line.startsWith(`{"job":${JSON.stringify(key)},"reply":`)) lost.push(place);
          else byJob.set(key, [...(byJob.get(key) ?? []), (JSON.parse(line) as { reply: unknown }).reply]);
          left.delete(lines.get(line) ?? '');
        }
  } finally {
    await state.close();
  }
  return { byJob, lost, unclaimed: [...left] };
}
